import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('engine-metrics', {
  UNKNOWN_TAG: [404, 'the core observes no outbound with this tag'],
});
