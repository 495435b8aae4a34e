// Protocols that bring their own transport. Source: sing-box.sagernet.org, outbounds Hysteria2 and TUIC, endpoint WireGuard.
import { isIP } from 'node:net';
import {
  type ClientIdentity,
  type EntryTemplate,
  type HysteriaAccount,
  type TuicAccount,
  valueFor,
  type WireguardAccount,
} from '../inbounds/contract.js';
import type { EntryFill, JsonTemplate } from '../subscription/contract.js';
import { tlsOf } from './tls.js';
import type { Minor } from './version.js';

type Fields = Record<string, JsonTemplate>;

const LARGEST_PACKET = 2048;
/** A range of packet sizes makes gecko of salamander. */
export function packetSizes({
  finalMask,
}: EntryTemplate): readonly [least: number, most: number] | undefined {
  const mask = finalMask?.udp?.find(({ kind }) => kind === 'salamander');
  const [, least, most] =
    /^(\d{1,4})-(\d{1,4})$/.exec((mask?.kind === 'salamander' && mask.packetSize) || '') ?? [];
  const sizes = [Number(least), Number(most)] as const;
  return sizes[0] >= 1 && sizes[0] <= sizes[1] && sizes[1] <= LARGEST_PACKET ? sizes : undefined;
}

function obfuscation(entry: EntryTemplate): JsonTemplate {
  const mask = entry.finalMask?.udp?.find(({ kind }) => kind === 'salamander');
  if (mask?.kind !== 'salamander') return undefined;
  const sizes = packetSizes(entry);
  return sizes
    ? { type: 'gecko', password: mask.password, min_packet_size: sizes[0], max_packet_size: sizes[1] }
    : { type: 'salamander', password: mask.password };
}

const LAST_PORT = 65_535;
/** `20000-30000,40000` as `20000:30000`, `40000:40000`; undefined for what is no list of ports. */
export function portRanges(text: string): string[] | undefined {
  const ranges = text.split(',').map((part) => /^\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?$/.exec(part));
  const pairs = ranges.map((found) => [Number(found?.[1]), Number(found?.[2] ?? found?.[1])] as const);
  return pairs.every(([from, to]) => from >= 1 && from <= to && to <= LAST_PORT)
    ? pairs.map(([from, to]) => `${from}:${to}`)
    : undefined;
}
/** sing-box hops no faster. */
const SHORTEST_HOP = 5;
const hopInterval = (interval: number | string | undefined): string | undefined => {
  const seconds = Number(/^\d+/.exec(String(interval ?? ''))?.[0] ?? 0);
  return seconds > 0 ? `${Math.max(seconds, SHORTEST_HOP)}s` : undefined;
};

export function hysteriaOf(entry: EntryTemplate<HysteriaAccount>, minor: Minor): Fields {
  const { account, port, security, finalMask } = entry;
  const hop = finalMask?.udpHop;
  const ranges = hop && portRanges(hop.ports);
  return {
    ...(ranges ? { server_ports: ranges, hop_interval: hopInterval(hop.interval) } : { server_port: port }),
    password: ({ client }) => valueFor(account.auth, client),
    obfs: obfuscation(entry),
    tls: tlsOf(security, { minor, quic: true }),
  };
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
export const tuicFits = ({ uuid }: EntryTemplate<TuicAccount>['account'], client: ClientIdentity): boolean =>
  UUID.test(valueFor(uuid, client));

export function tuicOf({ account, port, security }: EntryTemplate<TuicAccount>, minor: Minor): Fields {
  const { uuid, password, congestionControl, udpRelayMode } = account;
  return {
    server_port: port,
    uuid: ({ client }) => valueFor(uuid, client),
    password: ({ client }) => valueFor(password, client),
    congestion_control: ({ client }) => valueFor(congestionControl, client),
    udp_relay_mode: udpRelayMode === undefined ? undefined : ({ client }) => valueFor(udpRelayMode, client),
    tls: tlsOf(security, { minor, quic: true }),
  };
}

const KEY = /^[A-Za-z0-9+/]{43}=$/;
const BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };
function isPrefix(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  return address !== '' && Number(bits) <= (BITS[isIP(address)] ?? -1);
}
/** Not where only the client knows its key, and not with a value that would break the whole document. */
export function wireguardFits(
  account: EntryTemplate<WireguardAccount>['account'],
  client: ClientIdentity,
): boolean {
  const preSharedKey = valueFor(account.preSharedKey, client);
  const addresses = valueFor(account.address, client);
  return (
    KEY.test(valueFor(account.privateKey, client)) &&
    KEY.test(valueFor(account.publicKey, client)) &&
    (preSharedKey === '' || KEY.test(preSharedKey)) &&
    addresses.length > 0 &&
    addresses.every(isPrefix)
  );
}

const positive = (value: EntryTemplate<WireguardAccount>['account']['mtu']): JsonTemplate =>
  typeof value === 'function' ? ({ client }) => value(client) || undefined : value || undefined;

export function wireguardOf({ account, port, server }: EntryTemplate<WireguardAccount>): Fields {
  const { address, privateKey, publicKey, preSharedKey, keepAlive, mtu } = account;
  return {
    mtu: positive(mtu),
    address: ({ client }: EntryFill) => [...valueFor(address, client)],
    private_key: ({ client }) => valueFor(privateKey, client),
    peers: [
      {
        address: server || (({ server: asked }) => asked),
        port,
        public_key: ({ client }) => valueFor(publicKey, client),
        pre_shared_key: ({ client }) => valueFor(preSharedKey, client) || undefined,
        allowed_ips: ['0.0.0.0/0', '::/0'],
        persistent_keepalive_interval: positive(keepAlive),
      },
    ],
  };
}
