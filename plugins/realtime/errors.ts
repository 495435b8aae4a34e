import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('realtime', {
  UPGRADE_REQUIRED: [426, 'this is a WebSocket endpoint; connect with a WebSocket client'],
  FULL: [503, 'too many live-stream connections; close one'],
});
