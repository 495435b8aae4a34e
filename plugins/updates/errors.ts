import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('updates', {
  NOT_INSTALLED: [409, 'this panel cannot update itself'],
  NOT_SET_UP: [409, 'updates are not set up'],
  BUSY: [409, 'an update is under way'],
  UNKNOWN: [404, 'this version is not among the releases'],
  UNFIT: [409, 'this release cannot be installed here'],
  NOT_RECORDED: [507, 'the update cannot be recorded'],
  SOURCE: [502, 'the releases of the panel cannot be read'],
});
