import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('clients', {
  NOT_FOUND: [404, 'client not found'],
  EMAIL_TAKEN: [409, 'email already in use'],
  SUB_ID_TAKEN: [409, 'subId already in use'],
  UUID_TAKEN: [409, 'another client has this UUID'],
  PASSWORD_TAKEN: [409, 'another client has this password'],
});
