import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('resellers', {
  NOT_RESELLER: [403, 'you are no reseller yet; a full admin makes you one at /panel/api/x/resellers'],
  NOT_FOUND: [404, 'there is no reseller with this id'],
  NO_CLIENT: [404, 'you have no client with this id'],
  NO_ADMIN: [400, 'there is no admin with this id'],
  ADMIN_TAKEN: [409, 'this admin is a reseller already'],
  TOO_MANY: [409, 'there are as many resellers as there can be; delete one first'],
  PREFIX: [400, 'the name must begin with your prefix'],
  NOT_YOUR_INBOUND: [403, 'you may not use this inbound'],
  CLIENT_QUOTA: [409, 'you have as many clients as you may have'],
  BYTE_QUOTA: [409, 'you have given away the bytes that you may give'],
  UNLIMITED: [400, 'a client of yours needs a limit of bytes'],
  DAYS: [400, 'the expiry is later than you may give'],
  NO_RESET: [403, 'you may not reset the usage of clients'],
  HELD: [403, 'somebody else has disabled this client; ask a full admin'],
  SHARED: [409, 'another client has the same subscription; give this one a subId of its own first'],
});
