import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('access', {
  WRONG_LOGIN: [401, 'user name or password is wrong'],
  TOO_MANY_LOGINS: [429, 'too many failed logins from here; wait and try again'],
  WRONG_TOKEN: [401, 'this API token is unknown or switched off'],
  TOKEN_NAME_TAKEN: [409, 'another API token has this name'],
  TOKEN_NOT_FOUND: [404, 'there is no API token with this id'],
});
