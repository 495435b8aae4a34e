import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('sub-balancers', {
  NOT_FOUND: [404, 'there is no subscription balancer with this id'],
  INVALID: [400, 'this is not a subscription balancer'],
  TOO_MANY: [409, 'there are as many subscription balancers as there can be; delete one first'],
});
