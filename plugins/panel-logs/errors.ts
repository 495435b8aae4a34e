import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('panel-logs', {
  NO_LOG: [503, 'this panel is embedded in another program, which has its log'],
  NO_JOURNAL: [503, 'there is no journal of the panel'],
  JOURNAL_SLOW: [503, 'the journal did not answer in time; ask for fewer lines'],
});
