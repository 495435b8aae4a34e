import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('outbound-subs', {
  NOT_FOUND: [404, 'there is no outbound subscription with this id'],
  TOO_MANY: [409, 'there are as many outbound subscriptions as there can be; delete one first'],
  NOT_FETCHED: [422, 'the list was not fetched, or nothing of it can run; the previous one stays'],
});
