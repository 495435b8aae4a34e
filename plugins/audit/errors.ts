import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('audit', {
  NO_KEY: [409, 'the record of changes has lost its key'],
});
