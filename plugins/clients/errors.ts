import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('clients', {
  NOT_FOUND: [404, 'client not found'],
  AT_LIMIT: [409, 'the client is at its quota or its expiry; raise that first'],
  NOTHING_TO_ADJUST: [400, 'no adjustment: send addDays, addBytes, flow, limitHwid or adTag'],
  NOT_ADJUSTABLE: [409, 'this client cannot be adjusted this way'],
  GROUP_TAKEN: [409, 'a group with this name already exists'],
  GROUP_NOT_FOUND: [404, 'group not found'],
  EMAIL_TAKEN: [409, 'email already in use'],
  SUB_ID_TAKEN: [409, 'subId already in use'],
  UUID_TAKEN: [409, 'another client has this UUID'],
  REVERSE_TAKEN: [409, 'another client has this reverse tag'],
  STILL_ATTACHED: [409, 'clients are attached to this inbound'],
  PASSWORD_TAKEN: [409, 'another client has this password'],
  AUTH_TAKEN: [409, 'another client has this auth'],
  CREDENTIAL_TAKEN: [409, 'another client of this inbound has this'],
  NOT_ATTACHABLE: [409, 'the client cannot be attached to this inbound'],
  CHANGED_MEANWHILE: [409, 'the client was changed at the same moment; try again'],
  NO_LONGER_MEANT: [409, 'the client no longer passes the filter'],
});
