import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('access', {
  WRONG_LOGIN: [401, 'user name, password or two-factor code is wrong'],
  LOGIN_REFUSED: [
    401,
    'the admin of this login is deleted, disabled or was changed meanwhile; try again, or ask a full admin',
  ],
  TOO_MANY_LOGINS: [429, 'too many failed attempts from here; wait and try again'],
  WRONG_CREDENTIALS: [403, 'the current user name or password is wrong'],
  WRONG_CODE: [403, 'the two-factor code is missing, wrong or already used; send the next one'],
  NO_SECRET: [
    422,
    'two-factor needs a secret: send twoFactorToken, at least 16 bytes in base32, and a code of it in twoFactorCode',
  ],
  NO_OWN_FACTOR: [
    403,
    'a second factor belongs to an admin: call this with the session of that admin, or a token that the admin made',
  ],
  NO_SECOND_FACTOR: [404, 'this admin has no second factor'],
  FACTOR_CHANGED: [409, 'the second factor was changed meanwhile; look at it again'],
  OWN_FACTOR: [
    403,
    'only another full admin who is logged in may reset a second factor; turn your own one off with a code',
  ],
  TWO_FACTOR_OFF: [422, 'recovery codes need two-factor, which is off; turn it on first'],
  SESSION_NOT_FOUND: [404, 'there is no open session with this id'],
  WRONG_TOKEN: [401, 'this API token is unknown, disabled or expired'],
  ADMIN_TAKEN: [409, 'another admin has this user name'],
  ADMIN_NOT_FOUND: [404, 'there is no admin with this id'],
  LAST_ADMIN: [409, 'this is the last full admin who can log in; make another one first'],
  TOO_MANY_ADMINS: [409, 'there are as many admins as there can be; delete one first'],
  NO_PERMISSION: [403, 'the role of this admin or API token does not allow this call'],
  OWN_TOKENS: [403, 'an API token with a role has no tokens; use the session of its admin'],
  NO_ROLES: [409, 'there are no roles, because the plugin roles does not run'],
  OWN_ACCOUNT: [403, 'an admin with a role may change only the own password, with a session'],
  NOT_BCRYPT: [
    422,
    'the hash of the password is not one of bcrypt with a cost from 4 to 14; set the password here',
  ],
  TOKEN_KIND: [400, 'there is no such kind of API token'],
  TOKEN_ROUTE: [403, 'an API token of this kind may not call this path'],
  TOKEN_NAME_TAKEN: [409, 'another API token has this name'],
  TOKEN_EXPIRED: [400, 'expiresAt must be in the future (Unix ms), or 0 for never'],
  TOKEN_NOT_FOUND: [404, 'there is no API token with this id'],
});
