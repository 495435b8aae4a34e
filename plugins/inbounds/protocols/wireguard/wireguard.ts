// WireGuard. Settings: xtls.github.io, WireGuard inbound.
import {
  annotate,
  bool,
  custom,
  describedAs,
  int,
  list,
  oneOf,
  optional,
  shape,
  text,
} from '../../../../kernel/index.js';
import type { ConfigAccountType, JsonObject } from '../../../engine/contract.js';
import type { Inbound, Protocol } from '../../contract.js';
import type { TakenKeys } from '../../credential.js';
import { advanced, forClients, section } from '../../form.js';
import { wireguardKey, wireguardPeer } from '../../generators.js';
import { objectOf, textOf, textsOf } from '../../stream/transport.js';
import { freeAddress, poolsAround } from './address-pool.js';
import { firstNumber, prefixOf } from './prefixes.js';
import { type OtherPeers, tunnelCredential } from './credential.js';
import { numberOf, peerAccount, peerFields } from './peer.js';
import { KEY_PATTERN, keyOf, newKeyPair, publicKeyOf, unusedPublicKey } from './keys.js';

/** Xray-core 26.3.27, proxy/wireguard/config.proto. It is no UserManager, and its peers have no name: it counts nobody. */
export const wireguardAccounts: ConfigAccountType = {
  name: 'wireguard',
  users: 'config',
  inboundType: 'xray.proxy.wireguard.DeviceConfig',
  list: 'peers',
  fields: {
    publicKey: { type: 'string' },
    // A list in the core's config; the value is one text with commas.
    allowedIPs: { type: 'string', toJson: (value) => String(value).split(',').filter(Boolean) },
    preSharedKey: { type: 'string' },
    keepAlive: { type: 'uint32' },
  },
  fault: ({ publicKey, allowedIPs }) =>
    publicKey === '' || allowedIPs === '' ? 'publicKey and allowedIPs must not be empty' : undefined,
  // An address that no packet has (RFC 6666).
  nobody: () => ({
    publicKey: unusedPublicKey(),
    allowedIPs: '100::1/128',
    preSharedKey: '',
    keepAlive: 0,
  }),
};

/** It stands in links and in files of client programs. */
const line = () =>
  text()
    .max(1000)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
const key = (name: string) =>
  describedAs(
    custom<string>(
      text()
        .max(255)
        .custom((value: string, state) =>
          keyOf(value) === undefined
            ? state.error('any.custom', { error: new Error(`${name} must be a key of 32 bytes in base64`) })
            : value,
        ),
    ),
    { type: 'string', pattern: KEY_PATTERN },
  );
const peer = shape(
  section('Peer', {
    publicKey: annotate(key('publicKey'), { generator: wireguardPeer }),
    privateKey: annotate(optional(text().max(255)), { secret: true, change: 'none' }).description(
      "the peer's own, for its config file",
    ),
    preSharedKey: annotate(optional(text().max(255)), { secret: true, level: 'advanced' }),
    allowedIPs: optional(list(text().max(255)).max(64)).description('networks of the peer, like 10.0.0.2/32'),
    keepAlive: annotate(optional(int().min(0).max(65_535)), { level: 'advanced', unit: 'seconds' }),
  }),
).unknown(true);
const settings = shape({
  ...section('Keys', {
    secretKey: annotate(key('secretKey'), {
      secret: true,
      generated: true,
      generator: wireguardKey('secretKey'),
    }).description('private key of the server'),
  }),
  ...forClients('Clients', { dns: optional(line()).description('name servers that clients use') }),
  ...advanced('Tunnel', {
    mtu: annotate(optional(int().min(1).max(65_535)), { unit: 'bytes', initial: 1420 }),
    noKernelTun: optional(bool()).description('the core does not use an interface of the system'),
    domainStrategy: optional(oneOf('', 'ForceIP', 'ForceIPv4', 'ForceIPv4v6', 'ForceIPv6', 'ForceIPv6v4')),
  }),
  ...advanced('Peers', {
    peers: optional(list(peer).max(1000)).description('peers that are no clients'),
  }),
}).unknown(true);

const NO_PEERS: OtherPeers = { publicKeys: new Set(), networks: new Set() };
const known = new WeakMap<Inbound, OtherPeers>();
/** Of a stored inbound: the same object until it is edited. */
function othersOf(inbound: Inbound): OtherPeers {
  const { peers } = inbound.settings;
  if (!Array.isArray(peers) || peers.length === 0) return NO_PEERS;
  const before = known.get(inbound);
  if (before) return before;
  const own = (peers as unknown[]).map(objectOf);
  const others = {
    publicKeys: new Set(own.map((one) => keyOf(textOf(one['publicKey'])) ?? '')),
    networks: new Set(
      own.flatMap((one) => textsOf(one['allowedIPs']).flatMap((ip) => prefixOf(ip)?.network ?? [])),
    ),
  };
  known.set(inbound, others);
  return others;
}

/** The pool lies around the first address that a peer or client has. */
function assign(inbound: Inbound, taken: TakenKeys, fieldPrefix: string): string {
  const { networks } = othersOf(inbound);
  const isIPv4 = (network: string): boolean => firstNumber(network) !== undefined;
  let around: string | undefined = [...networks].find(isIPv4);
  if (around === undefined)
    for (const one of taken.all())
      if (isIPv4(one)) {
        around = one;
        break;
      }
  return freeAddress(
    taken,
    poolsAround(around ?? '10.0.0.0/24'),
    (network) => !networks.has(network),
    inbound,
    fieldPrefix,
  );
}

const credential = tunnelCredential({ others: othersOf, assign, change: 'replace' });

const serverKeyOf = ({ settings: { secretKey } }: Pick<Inbound, 'settings'>): string =>
  publicKeyOf(keyOf(textOf(secretKey)) ?? '');

export const wireguard: Protocol = {
  name: 'wireguard',
  title: 'WireGuard',
  settings: custom(settings),
  /** A blank key is generated once: one that was left out of an update stays, or no client could connect any more. */
  complete: (sent, before) => ({
    ...sent,
    secretKey: sent['secretKey'] || before?.['secretKey'] || newKeyPair().privateKey,
  }),
  // `dns` is for client programs.
  coreSettings: ({ clients: _clients, dns: _dns, ...rest }) => rest as JsonObject,
  streamProblem: ({ network, security }) =>
    network === 'tcp' && security === 'none'
      ? undefined
      : 'wireguard is its own transport and its own encryption; leave network and security out',
  l4: () => ['udp'],
  credential,
  note: () =>
    'the core does not count the bytes of single clients of wireguard: what they move through this inbound is in no quota',
  account: (client, inbound) => ({ protocol: 'wireguard', ...peerAccount(client, inbound) }),
  entry(inbound, base) {
    const { mtu, dns } = inbound.settings;
    return {
      ...base,
      transport: { kind: 'own' },
      security: { kind: 'none' },
      account: {
        protocol: 'wireguard',
        ...peerFields(inbound),
        publicKey: serverKeyOf(inbound),
        mtu: numberOf(mtu),
        dns: textOf(dns),
      },
    };
  },
  option: (inbound) => ({
    wgPublicKey: serverKeyOf(inbound),
    wgMtu: numberOf(inbound.settings['mtu']),
    wgDns: textOf(inbound.settings['dns']),
  }),
};
