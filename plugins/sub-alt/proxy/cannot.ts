// What mihomo has no words for. Source: wiki.metacubex.one, proxies.
import type { EntryTemplate } from '../../inbounds/contract.js';
import { cannotEch } from './security.js';
import { cannotPlugin } from './shadowsocks.js';

const OWN = ['hysteria', 'tuic', 'wireguard', 'amneziawg'];
const TRANSPORTS: Readonly<Record<string, readonly string[]>> = {
  vless: ['tcp', 'tcp behind an HTTP header', 'ws', 'httpupgrade', 'grpc', 'xhttp'],
  vmess: ['tcp', 'tcp behind an HTTP header', 'ws', 'httpupgrade', 'grpc'],
  trojan: ['tcp', 'ws', 'httpupgrade', 'grpc'],
  shadowsocks: ['tcp', 'ws', 'httpupgrade'],
  http: ['tcp'],
  mixed: ['tcp'],
};
const WITH_REALITY = ['vless', 'vmess', 'trojan'];

function cannotTravel({ account: { protocol }, transport }: EntryTemplate): string | undefined {
  if (OWN.includes(protocol)) return undefined;
  const known = TRANSPORTS[protocol];
  if (!known) return `mihomo has no ${protocol}`;
  const kind = transport.kind === 'tcp' && transport.http ? 'tcp behind an HTTP header' : transport.kind;
  return known.includes(kind) ? undefined : `mihomo has no ${protocol} over ${kind}`;
}

function cannotSecure({ account: { protocol }, transport, security }: EntryTemplate): string | undefined {
  if (security.kind === 'reality')
    return WITH_REALITY.includes(protocol) ? undefined : `mihomo has no ${protocol} over REALITY`;
  if (security.kind === 'tls') {
    if (protocol === 'shadowsocks' && transport.kind === 'tcp')
      return 'mihomo has no shadowsocks over TLS alone';
    return cannotEch(security);
  }
  return protocol === 'trojan' ? 'mihomo speaks trojan over TLS only' : undefined;
}

/** Masks change the bytes, so both sides must have them; only the fragment is the client's own affair. */
function cannotMask({ account: { protocol }, finalMask: { tcp = [], udp = [] } = {} }: EntryTemplate) {
  if (protocol === 'hysteria') {
    // Of older programs it would be the whole file that cannot be read.
    if (udp.some((mask) => mask.kind === 'salamander' && mask.packetSize))
      return 'only the newest mihomo has salamander with a range of packet sizes';
    const other = udp.find(({ kind }) => kind !== 'salamander');
    return other && `mihomo has no mask ${other.kind} of hysteria`;
  }
  const isOverUdp = OWN.includes(protocol) || protocol === 'shadowsocks';
  const other = [...tcp, ...(isOverUdp ? udp : [])].find(({ kind }) => kind !== 'fragment');
  return other && `mihomo has no mask ${other.kind} of ${protocol}`;
}

/** Where a server behind the front looks at the name, another one finds nothing. */
function cannotFront({ transport, security }: EntryTemplate): string | undefined {
  if (transport.kind !== 'grpc' || !transport.authority) return undefined;
  const name = security.kind === 'none' ? '' : security.serverName;
  return typeof name === 'function' || name === transport.authority
    ? undefined
    : 'for gRPC mihomo has one name for TLS and the header :authority, and this one has two';
}

/** Why an entry cannot be written; undefined when it can. */
export const cannotProxy = (entry: EntryTemplate): string | undefined =>
  cannotTravel(entry) ??
  cannotSecure(entry) ??
  cannotMask(entry) ??
  cannotFront(entry) ??
  (entry.account.protocol === 'shadowsocks' && entry.transport.kind !== 'tcp'
    ? cannotPlugin(entry)
    : undefined);
