import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('engine-versions', {
  PINNED: [409, 'the environment decides which core runs'],
  BUSY: [409, 'another install is under way'],
  UNKNOWN: [404, 'this version is not among the releases'],
  SOURCE: [502, 'the releases of the core cannot be read'],
  ARCHIVE: [502, 'the archive of the core cannot be used'],
  REFUSED: [422, 'the core does not accept the current config; the previous core runs'],
  FAILED: [502, 'the core does not serve; the previous core runs'],
});
