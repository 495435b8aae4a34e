import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('global-traffic', {
  TOO_MANY_MASTERS: [
    409,
    'too many panels push traffic to this one; stop one of them, and it is forgotten after a day',
  ],
});
