import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('hosts', {
  NOT_FOUND: [404, 'there is no host group with this groupId'],
  GROUP_TAKEN: [409, 'another host group has this groupId; leave it out or choose another'],
});
