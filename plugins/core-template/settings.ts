import { setting, word } from '../../kernel/index.js';

export const templateSettings = {
  outboundTestUrl: setting(
    word()
      .uri({ scheme: ['http', 'https'] })
      .max(2048),
    'https://www.google.com/generate_204',
    'what tests of outbounds fetch',
  ),
} as const;
