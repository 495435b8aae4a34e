// The first program of this family, which nobody develops any more: it reads a part of what mihomo reads, and refuses a
// file with a protocol, a transport or a cipher that it does not know. Source: Dreamacro's Clash, wiki, outbound.
import { type EntryTemplate, isOf } from '../../inbounds/contract.js';
import { cannotProxy } from './cannot.js';

const KEYS = new Set([
  ...['type', 'port', 'udp', 'uuid', 'alterId', 'cipher', 'password', 'network', 'ws-opts', 'grpc-opts'],
  ...['tls', 'servername', 'sni', 'alpn', 'skip-cert-verify'],
]);
/** Whether it knows a key of a proxy. */
export const isLegacyKey = (key: string): boolean => KEYS.has(key);

const TRANSPORTS = ['tcp', 'ws', 'grpc'];
const CIPHERS = /^(?:aes-(?:128|256)-gcm|(?:chacha20|xchacha20)(?:-ietf)?-poly1305)$/;

function cannotBeLegacy(entry: EntryTemplate): string | undefined {
  const { account, transport, security } = entry;
  if (isOf(entry, 'shadowsocks')) {
    const { method } = entry.account;
    const isKnown = typeof method === 'string' && CIPHERS.test(method) && transport.kind === 'tcp';
    return isKnown ? undefined : 'the first Clash has only Shadowsocks with classic ciphers, over TCP';
  }
  if (!['vmess', 'trojan'].includes(account.protocol)) return `the first Clash has no ${account.protocol}`;
  if (!TRANSPORTS.includes(transport.kind) || (transport.kind === 'tcp' && transport.http))
    return `the first Clash has no ${account.protocol} over ${transport.kind}`;
  if (security.kind === 'reality') return 'the first Clash has no REALITY';
  const isPinned =
    security.kind === 'tls' && (security.pinnedPeerCertSha256?.length || security.verifyPeerCertByName);
  return isPinned ? 'the first Clash checks no pinned certificate' : undefined;
}

/** Why it cannot use an entry; undefined when it can. */
export const cannotLegacy = (entry: EntryTemplate): string | undefined =>
  cannotProxy(entry) ?? cannotBeLegacy(entry);
