import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('engine', {
  NO_CORE: [503, 'there is no core to be started'],
  CONFIG_REFUSED: [422, 'the core refuses its config and goes on with the former one'],
  START_FAILED: [502, 'the core did not start; it is tried again'],
});
