import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('keygen', {
  CERTIFICATE: [400, 'there is no certificate that can be read'],
  SERVER: [400, 'the certificate of the server could not be fetched'],
});
