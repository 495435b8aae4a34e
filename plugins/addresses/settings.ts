import { int, oneOf, setting, text, inSection } from '../../kernel/index.js';
import { networksIn } from './networks.js';

const networks = () =>
  text()
    .max(16_384)
    .custom((value: string) => {
      networksIn(value);
      return value;
    });

export const addressSettings = inSection(
  'Addresses of clients',
  {
    addressDays: setting(
      int().min(1).max(3650),
      30,
      'days for which the panel remembers from where a client connected',
      { unit: 'days' },
    ),
    addressesIgnored: setting(
      networks(),
      '127.0.0.0/8,::1',
      'addresses and networks, comma-separated, that are not recorded: those of proxies and tunnels in front of the core',
    ),
    ipLimitAllowlist: setting(
      networks(),
      '',
      'addresses and networks, comma-separated, that do not count for limitIp and are never cut',
    ),
    ipLimitCut: setting(
      oneOf('newest', 'oldest', 'none'),
      'newest',
      'whose connections are closed when a client is over its limitIp: those of the addresses that came last, those that came first, or none',
      { level: 'basic' },
    ),
  },
  { level: 'advanced' },
);
