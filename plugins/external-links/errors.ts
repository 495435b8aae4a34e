import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('external-links', {
  INVALID: [400, 'this is not a list of external links'],
});
