import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('reality-scanner', {
  TARGET: [400, 'the target is not a valid server'],
  TOO_MANY: [400, 'the list has too many targets'],
  BUSY: [429, 'too many servers or lists are scanned now'],
  NO_OUTGOING: [503, 'the plugin outgoing, which calls other machines, is off'],
});
