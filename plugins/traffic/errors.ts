import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('traffic', {
  UNTIL_OUT_OF_RANGE: [400, 'this moment is in the past or too far ahead'],
});
