import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('archive', {
  REFUSED: [422, 'this is not an archive that can be imported; nothing was changed'],
  NOT_WRITTEN: [507, 'the archive cannot be written'],
  BUSY: [409, 'another import of an archive is under way; try again when it is done'],
});
