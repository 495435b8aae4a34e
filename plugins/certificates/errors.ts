import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('certificates', {
  NOT_FOUND: [404, 'there is no certificate with this id'],
  NAMES: [400, 'a certificate cannot be issued for these names'],
  DIRECTORY: [400, 'the directory of the authority must be a URL that begins with https://'],
  TERMS: [
    400,
    'agreeToTerms must be true: the authority issues only to those who accept its terms of service',
  ],
  USE: [400, 'the certificate cannot be used there'],
  FILES: [400, 'webCertFile and webKeyFile cannot be served'],
  TAKEN: [409, 'another certificate is used there already'],
  IN_USE: [409, 'the certificate is in use'],
  TOO_MANY: [409, 'there are as many certificates as there can be; remove one first'],
  TOO_SOON: [429, 'no certificate can be ordered yet'],
  NOT_ISSUED: [422, 'no certificate was issued; the previous one stays in use'],
  NOT_REVOKED: [422, 'the authority did not revoke the certificate; it was not removed'],
});

/** An order belongs to one panel of a database. */
export const orderedBy = (panel: string): Error =>
  errors.TOO_SOON(`the panel ${panel} orders it at this moment`, { headers: { 'retry-after': '10' } });
