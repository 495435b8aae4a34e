import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('idempotency', {
  UNDER_WAY: [409, 'the first call with this Idempotency-Key is still under way; try again in a moment'],
  UNKNOWN: [
    409,
    'the first call with this Idempotency-Key was cut off, and may have been done or not; look, and use a new key',
  ],
  NOT_KEPT: [409, 'the call with this Idempotency-Key was done, and its reply was too large to be kept'],
  OTHER_CALLER: [422, 'this Idempotency-Key was used by another caller; use a new key'],
  OTHER_REQUEST: [422, 'this Idempotency-Key was used for another request; use a new key'],
  TOO_MANY: [
    429,
    'too many replies are kept for this caller; wait, or send the call without an Idempotency-Key',
  ],
});
