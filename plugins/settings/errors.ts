import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('settings', {
  PINNED: [409, 'the environment sets this setting; change its variable instead'],
  PORT_TAKEN: [409, 'this port is taken'],
  ADDRESS: [409, 'the panel cannot listen on this address'],
  OWN_HOST: [409, 'the panel would no longer answer under the host of this request'],
});
