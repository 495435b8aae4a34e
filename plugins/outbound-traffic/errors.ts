import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('outbound-traffic', {
  NO_OUTBOUND: [404, 'there is no such outbound'],
  NOT_WRITTEN: [503, 'the database did not take the last reading of the core; try again'],
});
