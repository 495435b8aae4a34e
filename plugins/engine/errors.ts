import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('engine', {
  NO_CORE: [503, 'there is no core to start'],
  CONFIG_REFUSED: [422, 'the core rejected the config and keeps the previous one'],
  START_FAILED: [502, 'the core did not start; retrying'],
});
