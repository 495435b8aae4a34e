import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('metrics', {
  TOKEN: [
    401,
    'send the token of /metrics as Authorization: Bearer; POST /panel/api/x/metrics/token creates one',
  ],
});
