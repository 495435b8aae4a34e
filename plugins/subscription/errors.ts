import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('subscription', {
  PATH_TAKEN: [409, 'another subscription format has this path'],
  CERTIFICATE: [400, 'the certificate or its key cannot be used'],
});
