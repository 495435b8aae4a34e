// AmneziaWG, which a program of its own runs: WireGuard whose packets look like something else.
import { annotate, custom, optional, shape, text } from '../../../../kernel/index.js';
import type { AccountValue, Inbound, Protocol } from '../../contract.js';
import type { TakenKeys } from '../../credential.js';
import { section } from '../../form.js';
import { objectOf, type Settings, textOf } from '../../stream/transport.js';
import { freeAddress, poolOf } from './address-pool.js';
import { clashingLength, completeServer, mtuOf, ServerBlock } from './amneziawg-server.js';
import { type OtherPeers, tunnelCredential } from './credential.js';
import { peerAccount, peerFields } from './peer.js';

const serverOf = ({ settings }: Pick<Inbound, 'settings'>): Settings => objectOf(settings['server']);

const PORTS = /^(?:\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*)?$/;
const isPorts = (value: string): boolean =>
  PORTS.test(value) &&
  value
    .split(',')
    .filter(Boolean)
    .every((one) => {
      const [low = 0, high = low] = one.split('-').map(Number);
      return low >= 1 && low <= high && high <= 65_535;
    });
const forwardedPorts = optional(
  custom<string>(
    text()
      .max(1000)
      .custom((value: string, state) =>
        isPorts(value)
          ? value
          : state.error('any.custom', {
              error: new Error('ports with commas between them, such as 80,8000-8100'),
            }),
      ),
  ),
);

const NO_PEERS: OtherPeers = { publicKeys: new Set(), networks: new Set() };
const assign = (inbound: Inbound, taken: TakenKeys, fieldPrefix: string): string => {
  const server = serverOf(inbound);
  const length = typeof server['subnetCidr'] === 'number' ? server['subnetCidr'] : 24;
  return freeAddress(taken, [poolOf(textOf(server['subnetIp']), length)], () => true, inbound, fieldPrefix);
};

/** What a client must know of the disguise. */
const DISGUISE = [
  ...['jc', 'jmin', 'jmax', 's1', 's2', 's3', 's4', 'h1', 'h2', 'h3', 'h4', 'i1', 'i2', 'i3', 'i4', 'i5'],
  ...['headerProtectionKey', 'contentPaddingAddition', 'rekeyAfterTime', 'rekeyTimeout', 'rejectAfterTime'],
  ...['keepaliveTimeout', 'maxHandshakeAttempts', 'randomTrailers', 'disableCookies'],
];
const disguiseOf = (server: Settings): Record<string, AccountValue> =>
  Object.fromEntries(
    DISGUISE.flatMap((name) => {
      const value = server[name];
      return value === undefined || value === '' ? [] : [[name, value as AccountValue]];
    }),
  );

export const amneziawg: Protocol = {
  name: 'amneziawg',
  title: 'AmneziaWG',
  settings: custom(
    shape(section('Server', { server: annotate(ServerBlock, { generated: true }) })).unknown(true),
  ),
  complete: (sent, before) => ({ ...sent, server: completeServer(sent['server'], before?.['server']) }),
  runBy: 'program',
  stream: false,
  l4: () => ['udp'],
  coreSettings: () => ({}),
  note(settings) {
    const server = objectOf(settings['server']);
    const [field, bytes] = clashingLength(server) ?? [];
    return (
      field &&
      `with this ${field} and s4, amneziawg-go drops data packets of ${bytes + Number(server[field] ?? 0)} bytes, and some connections stall; change ${field} by one`
    );
  },
  credential: tunnelCredential({
    others: () => NO_PEERS,
    assign,
    change: 'none',
    more: { forwardedPorts },
  }),
  account: (client, inbound) => ({
    protocol: 'amneziawg',
    ...peerAccount(client, inbound),
    forwardedPorts: textOf(client.credentials?.get(inbound.id)?.['forwardedPorts']),
  }),
  entry(inbound, base) {
    const server = serverOf(inbound);
    return {
      ...base,
      transport: { kind: 'own' },
      security: { kind: 'none' },
      account: {
        protocol: 'amneziawg',
        ...peerFields(inbound),
        publicKey: textOf(server['publicKey']),
        mtu: mtuOf(server),
        dns: [textOf(server['primaryDns']), textOf(server['secondaryDns'])].filter(Boolean).join(', '),
        ...disguiseOf(server),
      },
    };
  },
  option(inbound) {
    const { privateKey: _secret, ...shown } = serverOf(inbound);
    return { awgServer: shown };
  },
};
