// SOCKS 4 and 5 (RFC 1928, 1929) and HTTP on one port. Settings: xtls.github.io, SOCKS inbound (also called mixed).
import {
  annotate,
  bool,
  canonicalAddress,
  custom,
  describedAs,
  oneOf,
  optional,
  shape,
  text,
  withDefault,
} from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { advanced, section } from '../form.js';
import { textOf } from '../stream/transport.js';
import { accountsNote, accountsOf, loginAccounts, loginEntry, ownAccounts } from './logins.js';

export const mixedAccounts = loginAccounts('mixed', 'xray.proxy.socks.ServerConfig');

const ip = describedAs(
  text().custom((value: string, state) =>
    value === '' || canonicalAddress(value) !== undefined
      ? value
      : state.error('any.custom', { error: new Error('it must be an IP address') }),
  ),
  { anyOf: [{ const: '' }, { type: 'string', format: 'ipv4' }, { type: 'string', format: 'ipv6' }] },
);
const settings = shape({
  ...section('Logins', {
    auth: withDefault(oneOf('password', 'noauth'), 'password').description(
      'password: clients and logins; noauth: everybody, and no clients',
    ),
  }),
  ...advanced('Logins', {
    accounts: annotate(ownAccounts(), { when: { field: 'auth', is: ['password'] } }).description(
      'logins beside those of clients; they have no limits',
    ),
  }),
  ...section('UDP', {
    udp: optional(bool()).description('takes UDP over SOCKS, which the core does not count'),
    ip: annotate(optional(ip), { level: 'advanced', when: { field: 'udp' } }).description(
      'address of this machine that clients send UDP to',
    ),
  }),
}).unknown(true);

const isOpen = ({ auth }: Readonly<Record<string, unknown>>): boolean => auth === 'noauth';

export const mixed: Protocol = {
  name: 'mixed',
  title: 'SOCKS and HTTP',
  stream: false,
  settings: custom(settings),
  coreSettings: (own): JsonObject => ({
    auth: isOpen(own) ? 'noauth' : 'password',
    accounts: isOpen(own) ? [] : accountsOf(own),
    udp: own['udp'] === true,
    ...(textOf(own['ip']) !== '' && { ip: textOf(own['ip']) }),
  }),
  account: ({ password }) => ({ protocol: 'mixed', password }),
  entry: (inbound, base) => loginEntry('mixed', inbound, base),
  l4: ({ settings: own }) => (own['udp'] === true ? ['tcp', 'udp'] : ['tcp']),
  clientless: (own) =>
    isOpen(own)
      ? 'with auth "noauth" it lets in everybody and knows nobody; set auth to "password"'
      : undefined,
  note: (own) => {
    const notes = [
      isOpen(own) ? 'everybody who reaches this port may use it, and nothing is counted' : accountsNote(own),
      own['udp'] === true && !isOpen(own) ? 'the core does not count UDP over SOCKS' : undefined,
    ];
    return notes.filter(Boolean).join('; ') || undefined;
  },
};
