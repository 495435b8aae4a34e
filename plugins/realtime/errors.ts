import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('realtime', {
  UPGRADE_REQUIRED: [426, 'this is a WebSocket; connect with a client for that'],
  FULL: [503, 'too many listen to the live stream already; close one'],
});
