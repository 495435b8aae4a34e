import { bool, int, setting, inSection } from '../../kernel/index.js';

export const outboundSettings = inSection(
  'Tests of outbounds',
  {
    outboundTestMinutes: setting(
      int().min(0).max(10_080),
      0,
      'minutes between tests of all outbounds of the config; 0: never',
      { level: 'basic', unit: 'minutes' },
    ),
    outboundDownThreshold: setting(
      int().min(1).max(100),
      3,
      'failed tests in a row, on the schedule, after which an outbound counts as down',
      { when: { field: 'outboundTestMinutes' } },
    ),
    outboundTestEgress: setting(
      bool(),
      true,
      'whether a test in mode http also asks Cloudflare under which address the outbound is seen; not on the schedule',
    ),
  },
  { level: 'advanced' },
);
