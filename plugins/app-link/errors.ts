import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('app-link', {
  OFF: [409, 'there are no app links now'],
  // Programs look for this word.
  SOURCE_TOO_LONG: [422, 'happ_source_too_long'],
  INVALID_SOURCE: [422, 'the app cannot open this URL'],
});
