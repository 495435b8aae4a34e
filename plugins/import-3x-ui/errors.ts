import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('import-3x-ui', {
  UNREADABLE: [422, 'the file cannot be imported; nothing was changed'],
  BUSY: [409, 'another import is under way; try again when it is done'],
});
