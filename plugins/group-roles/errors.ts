import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('group-roles', {
  NO_ROLE: [403, 'you have no role of the kind groups; a full admin gives one at /panel/api/x/admins'],
  READ_ONLY: [
    403,
    'your role only shows these clients; a full admin changes its level at /panel/api/x/roles',
  ],
  NO_CLIENT: [404, 'there is no client with this id in your groups'],
  NOT_YOUR_GROUP: [403, 'your role does not name this group'],
  NOT_YOUR_INBOUND: [403, 'no client of your groups is in this inbound'],
});
