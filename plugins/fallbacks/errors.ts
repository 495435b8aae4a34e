import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('fallbacks', {
  NO_MASTER: [422, 'an inbound of this protocol cannot have fallbacks'],
  APART: [409, 'a fallback leads to inbounds of its own machine'],
  CYCLE: [422, 'these fallbacks lead back to where they start'],
});
