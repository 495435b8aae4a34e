import { bool, int, setting, text, inSection } from '../../kernel/index.js';
import { portsIn } from './ports.js';

const minutes = () => int().min(1).max(525_600);

export const banGuardSettings = inSection(
  'Bans',
  {
    banGuardDriver: setting(
      text()
        .max(64)
        .pattern(/^(?:[a-z][a-z0-9.-]*)?$/, 'the name of a ban driver, or nothing'),
      '',
      'how addresses are banned: nftables, fail2ban, or a driver of another plugin; blank: not at all',
      { level: 'basic' },
    ),
    banGuardLimitIp: setting(bool(), true, 'whether addresses of clients over their limitIp are banned', {
      when: { field: 'banGuardDriver' },
    }),
    banGuardMinutes: setting(minutes(), 30, 'minutes for which an address over a limitIp is banned', {
      unit: 'minutes',
      when: { field: 'banGuardLimitIp' },
    }),
    banGuardLoginFailures: setting(
      int().min(0).max(10_000),
      30,
      'failed logins of an address within ten minutes after which it is banned from the panel; 0: never',
      { when: { field: 'banGuardDriver' } },
    ),
    banGuardLoginMinutes: setting(
      minutes(),
      60,
      'minutes for which an address is banned from the panel after failed logins',
      { unit: 'minutes', when: { field: 'banGuardLoginFailures' } },
    ),
    banGuardOpenPorts: setting(
      text()
        .max(1000)
        .custom((value: string) => {
          portsIn(value);
          return value;
        }),
      '',
      'ports, comma-separated, that no ban closes, beside those of the panel and of ssh',
      { when: { field: 'banGuardDriver' } },
    ),
  },
  { level: 'advanced' },
);
