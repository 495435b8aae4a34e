import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('panel-outbound', {
  NO_OUTBOUND: [400, 'there is no outbound with this tag'],
});
