import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('passkeys', {
  NO_ADMIN: [403, 'passkeys belong to an admin who is logged in; an API token has none'],
  NEEDS_NAME: [
    409,
    'a passkey belongs to a host name: open the panel by its name over https, not by an address such as 192.0.2.1',
  ],
  NEEDS_HTTPS: [409, 'browsers allow passkeys over https only: open the panel by https'],
  OTHER_HOST: [
    403,
    'this call does not come from the page of this host; behind a proxy, pass on the header Host, or trust the proxy and pass on X-Forwarded-Host',
  ],
  STALE: [
    400,
    'this was not begun in this browser, took longer than five minutes, or was done before; begin again',
  ],
  REFUSED: [401, 'this passkey is not accepted; try another one, or log in with the password'],
  OTHER_ADDRESS: [
    401,
    'this passkey was registered at another address of the panel (its host and port count); open that one, or log in with the password',
  ],
  COUNTER: [
    401,
    'the counter of this passkey went back, so there may be a copy of it; log in with the password and remove it',
  ],
  NOT_REGISTERED: [
    422,
    'the authenticator did not make a passkey that this panel can check; try another one',
  ],
  TAKEN: [409, 'this passkey is registered already'],
  TOO_MANY: [409, 'an admin has at most 20 passkeys; remove one first'],
  NOT_FOUND: [404, 'you have no passkey with this id'],
  ADMIN_NOT_FOUND: [404, 'there is no admin with this id'],
});
