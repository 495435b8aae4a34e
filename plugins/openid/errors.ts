import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('openid', {
  OFF: [409, 'login by OpenID Connect is off; a full admin turns it on in the settings'],
  INCOMPLETE: [422, 'login by OpenID Connect needs an issuer, a client id and the address of the panel'],
  STALE: [
    400,
    'this login was not begun in this browser, or it took longer than ten minutes; begin it again here',
  ],
  CANCELLED: [403, 'the provider did not log anybody in; begin again, or use the password'],
  NOT_PROVEN: [
    401,
    'the reply of the provider does not prove who this is; begin again, and see the log if it stays so',
  ],
  UNLINKED: [403, 'no admin is linked to this account of the provider; log in with the password and link it'],
  PROVIDER_DOWN: [502, 'the provider does not answer as it should; the log of the panel says why'],
  NO_SESSION: [401, 'the session that began to link the account is over; log in and begin again'],
  TAKEN: [409, 'this account of the provider is linked to another admin; unlink it there first'],
  LINKED: [409, 'this admin is linked to another account of the provider; unlink that one first'],
  TOO_MANY: [409, 'there are as many links as there can be; remove one first'],
  LINK_NOT_FOUND: [404, 'there is no such link'],
  FAILED: [500, 'the login failed; the log of the panel says why'],
});
