import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('roles', {
  NOT_FOUND: [404, 'there is no role with this id'],
  UNKNOWN: [400, 'there is no role with this id'],
  NAME_TAKEN: [409, 'another role has this name'],
  TOO_MANY: [409, 'there are as many roles as there can be; delete one first'],
  IN_USE: [409, 'admins or API tokens have this role; give them another one first'],
  KIND_HAS_NONE: [400, 'a role of a kind has no permissions'],
  NEEDS_GROUPS: [400, 'a role of the kind groups names one group or more'],
  NO_GROUPS: [400, 'only a role of the kind groups has groups and a level'],
  UNKNOWN_PERMISSION: [400, 'there is no such permission'],
});
