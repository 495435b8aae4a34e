// An entry as an outbound of sing-box, or as an endpoint. Source: sing-box.sagernet.org, outbounds and endpoints.
import {
  type ClientIdentity,
  type EntryTemplate,
  isOf,
  type LoginAccount,
  valueFor,
  withRoute,
} from '../inbounds/contract.js';
import { compileJson, type JsonTemplate, type WriteEntry } from '../subscription/contract.js';
import { BETWEEN } from './forms.js';
import { cannotShadowsocks, shadowsocksOf } from './shadowsocks.js';
import { asksForEch, cannotTls, isKey, tlsOf } from './tls.js';
import { alpnFor, cannotTravel, transportOf } from './transport.js';
import {
  hysteriaOf,
  packetSizes,
  portRanges,
  tuicFits,
  tuicOf,
  wireguardFits,
  wireguardOf,
} from './tunnels.js';
import { FOR_UNKNOWN, type Minor, MINORS } from './version.js';

/** An endpoint begins with this; everything else is an outbound. */
export const ENDPOINT = '{"type":"wireguard"';

const VISION = 'xtls-rprx-vision';
/** With the suffix the core's own client leaves UDP 443 to the user; the server knows one flow. */
const FLOWS: readonly string[] = ['', VISION, `${VISION}-udp443`];
const CIPHERS: readonly string[] = ['auto', 'aes-128-gcm', 'chacha20-poly1305', 'none', 'zero'];
const CONGESTION: readonly string[] = ['bbr', 'cubic', 'new_reno'];

const TYPES: Readonly<Record<string, string>> = {
  vless: 'vless',
  vmess: 'vmess',
  trojan: 'trojan',
  shadowsocks: 'shadowsocks',
  http: 'http',
  mixed: 'socks',
  hysteria: 'hysteria2',
  tuic: 'tuic',
  wireguard: 'wireguard',
};

/** TLS and the transport, for protocols that have both. */
function travel(entry: EntryTemplate, minor: Minor): Record<string, JsonTemplate> {
  const { security, transport, finalMask } = entry;
  const fragment = finalMask?.tcp?.some(({ kind }) => kind === 'fragment') ?? false;
  return {
    tls: tlsOf(security, { minor, fragment, alpn: alpnFor(transport.kind) }),
    transport: transportOf(entry),
  };
}

function login({ user, password }: EntryTemplate<LoginAccount>['account']): Record<string, JsonTemplate> {
  return {
    username: ({ client }) => valueFor(user, client) || undefined,
    password: ({ client }) => valueFor(password, client) || undefined,
  };
}

function fieldsOf(entry: EntryTemplate, minor: Minor): Record<string, JsonTemplate> {
  const server_port = entry.port;
  if (isOf(entry, 'vless')) {
    const { vlessRoute } = entry;
    const { id, flow } = entry.account;
    return {
      server_port,
      uuid: ({ client }) =>
        vlessRoute === undefined ? valueFor(id, client) : withRoute(valueFor(id, client), vlessRoute),
      flow: flow === '' ? undefined : ({ client }) => (valueFor(flow, client) === '' ? undefined : VISION),
      packet_encoding: 'xudp',
      ...travel(entry, minor),
    };
  }
  if (isOf(entry, 'vmess')) {
    const { id, security } = entry.account;
    return {
      server_port,
      uuid: ({ client }) => valueFor(id, client),
      security: ({ client }) => {
        const cipher = valueFor(security, client);
        return CIPHERS.includes(cipher) ? cipher : 'auto';
      },
      packet_encoding: 'xudp',
      ...travel(entry, minor),
    };
  }
  if (isOf(entry, 'trojan')) {
    const { password } = entry.account;
    return { server_port, password: ({ client }) => valueFor(password, client), ...travel(entry, minor) };
  }
  if (isOf(entry, 'shadowsocks')) return { server_port, ...shadowsocksOf(entry) };
  if (isOf(entry, 'http'))
    return { server_port, ...login(entry.account), tls: tlsOf(entry.security, { minor }) };
  if (isOf(entry, 'mixed')) return { server_port, version: '5', ...login(entry.account) };
  if (isOf(entry, 'hysteria')) return hysteriaOf(entry, minor);
  if (isOf(entry, 'tuic')) return tuicOf(entry, minor);
  throw new Error(cannotWrite(entry) ?? `no outbound for ${entry.account.protocol}`);
}

const dialOf = ({ socket = {} }: EntryTemplate): Record<string, JsonTemplate> => ({
  tcp_fast_open: socket.tcpFastOpen || undefined,
  tcp_multi_path: socket.tcpMptcp || undefined,
});

export function outboundOf(entry: EntryTemplate, minor: Minor): JsonTemplate {
  const type = TYPES[entry.account.protocol];
  const tag: JsonTemplate = ({ name }) => name;
  if (isOf(entry, 'wireguard')) return { type, tag, ...wireguardOf(entry) };
  const server: JsonTemplate = entry.server || (({ server: asked }) => asked);
  return { type, tag, server, ...fieldsOf(entry, minor), ...dialOf(entry) };
}

/** Whether the values of this client fit; a wrong one would break the whole document. */
function fits(entry: EntryTemplate, client: ClientIdentity): boolean {
  const { security } = entry;
  if (isOf(entry, 'tuic') && !tuicFits(entry.account, client)) return false;
  if (isOf(entry, 'wireguard') && !wireguardFits(entry.account, client)) return false;
  if (security.kind !== 'reality') return true;
  return isKey(valueFor(security.publicKey, client), valueFor(security.shortId, client));
}

const isGuarded = ({ account: { protocol }, security }: EntryTemplate): boolean =>
  protocol === 'tuic' || protocol === 'wireguard' || security.kind === 'reality';
const variesByVersion = (entry: EntryTemplate): boolean =>
  asksForEch(entry.security) ||
  packetSizes(entry) !== undefined ||
  (entry.finalMask?.tcp?.some(({ kind }) => kind === 'fragment') ?? false);

/** Empty where a version has no words for it. */
const writerFor = (entry: EntryTemplate, minor: Minor): WriteEntry =>
  packetSizes(entry) && minor < 14 ? () => '' : compileJson(outboundOf(entry, minor));

/** Writes one text, or one per version with BETWEEN between them, where they differ. */
export function compileOutbound(entry: EntryTemplate): WriteEntry {
  const writers = variesByVersion(entry) ? MINORS.map((minor) => writerFor(entry, minor)) : [];
  const write: WriteEntry =
    writers.length > 0
      ? (fill) => writers.map((one) => one(fill)).join(BETWEEN)
      : compileJson(outboundOf(entry, FOR_UNKNOWN));
  return isGuarded(entry) ? (fill) => (fits(entry, fill.client) ? write(fill) : '') : write;
}

const oneOf = (value: unknown, known: readonly string[]): boolean =>
  typeof value !== 'string' || known.includes(value);

function cannotMask({ account: { protocol }, finalMask = {} }: EntryTemplate): string | undefined {
  const { tcp = [], udp = [], udpHop } = finalMask;
  if (tcp.some(({ kind }) => kind === 'sudoku')) return 'sing-box has no sudoku';
  if (!['hysteria', 'tuic', 'wireguard'].includes(protocol)) return undefined;
  const other = udp.find(({ kind }, i) => protocol !== 'hysteria' || kind !== 'salamander' || i > 0);
  if (other) return `sing-box has no ${other.kind} for ${protocol}`;
  return udpHop && portRanges(udpHop.ports) === undefined ? 'its ports are no list of ports' : undefined;
}

/** Why sing-box cannot express an entry; undefined when it can. */
export function cannotWrite(entry: EntryTemplate): string | undefined {
  const { account, security, transport } = entry;
  const { protocol } = account;
  if (!Object.hasOwn(TYPES, protocol)) return `sing-box has no ${protocol}`;
  const masked = cannotMask(entry) ?? cannotTls(security);
  if (masked !== undefined) return masked;
  if (isOf(entry, 'wireguard')) return undefined;
  if (isOf(entry, 'hysteria') || isOf(entry, 'tuic')) {
    if (security.kind !== 'tls') return `${protocol} needs TLS in sing-box`;
    return isOf(entry, 'tuic') && !oneOf(entry.account.congestionControl, CONGESTION)
      ? 'sing-box does not know its congestion control'
      : undefined;
  }
  if (isOf(entry, 'shadowsocks')) return cannotTravel(entry) ?? cannotShadowsocks(entry);
  if (protocol === 'http' || protocol === 'mixed') {
    if (transport.kind !== 'tcp' || transport.http) return `sing-box has no ${protocol} over a transport`;
    if (security.kind === 'reality') return `sing-box has no ${protocol} with REALITY`;
    return protocol === 'mixed' && security.kind === 'tls' ? 'sing-box has no SOCKS under TLS' : undefined;
  }
  if (isOf(entry, 'vless')) {
    if (entry.account.encryption !== 'none') return "sing-box has no encryption of VLESS's own";
    if (!oneOf(entry.account.flow, FLOWS)) return 'sing-box does not know its flow';
  }
  return cannotTravel(entry);
}
