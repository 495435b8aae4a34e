import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('outbounds', {
  NO_CORE: [503, 'no core runs that could be asked'],
  CANNOT_TEST: [503, 'outbounds cannot be tested now'],
  BUSY: [409, 'other tests of outbounds are waiting already; try again when they are over'],
  NO_BALANCER: [404, 'the config has no such balancer'],
  NO_OUTBOUND: [404, 'the config has no such outbound'],
});
