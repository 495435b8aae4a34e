import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('core-template', {
  INVALID: [422, 'this template cannot run'],
  NOT_FOUND: [404, 'there is no such template in the history'],
  NOT_TESTED: [503, 'the core could not test the template; nothing was saved'],
  TAG_TAKEN: [409, 'an outbound of another protocol has this tag'],
  ROLLED_BACK: [422, 'the core did not run with this template; the previous one is back'],
});
