import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('cluster', {
  NOT_READY: [503, 'this panel takes no callers now'],
  NOT_LEADING: [
    503,
    'another panel of this database does this; try again, perhaps your call reaches that one',
  ],
});
