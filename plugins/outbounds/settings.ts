import { bool, int, setting } from '../../kernel/index.js';

export const outboundSettings = {
  outboundTestMinutes: setting(
    int().min(0).max(10_080),
    0,
    'minutes between tests of all outbounds of the config; 0: never',
  ),
  outboundDownThreshold: setting(
    int().min(1).max(100),
    3,
    'failed tests in a row, on the schedule, after which an outbound counts as down',
  ),
  outboundTestEgress: setting(
    bool(),
    true,
    'whether a test in mode http also asks Cloudflare under which address the outbound is seen; not on the schedule',
  ),
} as const;
