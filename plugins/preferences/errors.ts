import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('preferences', {
  NO_ADMIN: [403, 'preferences belong to an admin who is logged in; an API token has none'],
  TOO_MANY: [409, 'an admin has at most 200 preferences; remove some (null)'],
});
