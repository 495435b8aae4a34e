import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('ban-guard', {
  NOT_FOUND: [404, 'this address is not banned'],
  OFF: [409, 'nothing is banned while the setting banGuardDriver is blank; choose a driver first'],
  UNUSABLE: [503, 'the ban driver does not work now'],
  PROTECTED: [422, 'this address is never banned'],
  FULL: [409, 'as many addresses are banned as can be; end some bans first'],
  UNKNOWN_DRIVER: [422, 'there is no such ban driver'],
});
