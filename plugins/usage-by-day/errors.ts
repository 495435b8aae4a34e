import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('usage-by-day', {
  NO_RANGE: [400, 'from must not be after to, and at most 400 days are shown at once'],
});
