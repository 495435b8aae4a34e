import { setting, word, inSection } from '../../kernel/index.js';

export const templateSettings = inSection(
  'Tests of outbounds',
  {
    outboundTestUrl: setting(
      word()
        .uri({ scheme: ['http', 'https'] })
        .max(2048)
        .custom((value: string) => {
          // A port above 65535, or a host with `%00`, is a URI and no URL.
          if (!URL.canParse(value)) throw new Error('it must be a URL of http or https');
          return value;
        }),
      'https://www.google.com/generate_204',
      'what tests of outbounds fetch',
    ),
  },
  { level: 'advanced' },
);
