// A network interface of this machine: what the system routes to it goes through the core. Settings: XTLS/Xray-core,
// proxy/tun/README.md and infra/conf/tun.go.
import { annotate, custom, int, list, optional, shape, text, withDefault } from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { advanced, section } from '../form.js';

/** Names of interfaces: net/core/dev.c of Linux, dev_valid_name. */
const INTERFACE = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,15}$/;
const words = () => optional(list(text().max(255)).max(100));
const RESTARTS = { change: 'core' } as const;
const settings = shape({
  ...section(
    'Interface',
    {
      name: withDefault(text().pattern(INTERFACE, 'name of an interface, 1 to 15 characters'), 'engine0'),
      mtu: annotate(optional(int().min(0).max(65_535)), { unit: 'bytes', initial: 1500 }),
    },
    RESTARTS,
  ),
  ...advanced('Interface', { userLevel: optional(int().min(0)) }, RESTARTS),
  ...advanced(
    'Not read by this core',
    {
      gateway: words(),
      dns: words(),
      autoSystemRoutingTable: words(),
      autoOutboundsInterface: optional(text().max(255)),
    },
    RESTARTS,
  ),
}).unknown(true);

/** What Xray-core 26.3.27 reads over without a word: it only makes the interface. */
const UNREAD = ['gateway', 'dns', 'autoSystemRoutingTable', 'autoOutboundsInterface'];
const says = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '' && value !== 'auto';

const NO_USERS = 'an interface has no users: it takes what the system routes to it';

export const tun: Protocol = {
  name: 'tun',
  title: 'Network interface (TUN)',
  settings: custom(settings),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  restarts: true,
  stream: false,
  l4: () => [],
  clientless: () => NO_USERS,
  note(own) {
    const unread = UNREAD.filter((key) => says(own[key]));
    const left =
      unread.length === 0 ? '' : `; ${unread.join(', ')} are stored, and this core does not read them`;
    return `the core makes the interface, counts nothing of it, and restarts when it changes or goes; its addresses and routes are yours to set${left}`;
  },
  account() {
    throw new Error(NO_USERS);
  },
  entry() {
    throw new Error(NO_USERS);
  },
};
