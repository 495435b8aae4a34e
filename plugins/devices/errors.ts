import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('devices', {
  NOT_FOUND: [404, 'device not found'],
  INVALID: [400, 'this is not a device of an export'],
});
