// The share link of an entry, for any protocol.
import { type EntryTemplate, isOf } from '../inbounds/contract.js';
import { amneziawgLink } from './amneziawg.js';
import { hysteriaLink } from './hysteria.js';
import { httpLink, socksLink } from './logins.js';
import { mtprotoLink } from './mtproto.js';
import { shadowsocksLink } from './shadowsocks.js';
import type { WriteLink } from './share-link.js';
import { trojanLink } from './trojan.js';
import { tuicLink } from './tuic.js';
import { vlessLink } from './vless.js';
import { vmessLink } from './vmess.js';
import { wireguardLink } from './wireguard.js';

const KNOWN: readonly string[] = ['vless', 'vmess', 'trojan', 'shadowsocks', 'http', 'mixed'];
/** Their links say nothing of a transport: each has one way of its own. */
const WITH_OWN_TRANSPORT: readonly string[] = ['hysteria', 'tuic', 'mtproto', 'wireguard', 'amneziawg'];

/** Why an entry has no share link; undefined when it has one. */
export function cannotLink({
  account: { protocol },
  transport,
  security,
}: EntryTemplate): string | undefined {
  if (WITH_OWN_TRANSPORT.includes(protocol)) return undefined;
  if (!KNOWN.includes(protocol)) return `there is no share link for ${protocol}`;
  if (transport.kind === 'own') return `there is no share link for ${protocol} over a transport of its own`;
  if (protocol === 'vmess' && security.kind === 'reality')
    return 'the share link of VMess has no fields for REALITY';
  return undefined;
}

/** Compiles the link of an entry: the parts that all clients share are written once. */
export function compileLink(entry: EntryTemplate): WriteLink {
  if (isOf(entry, 'vless')) return vlessLink(entry);
  if (isOf(entry, 'vmess')) return vmessLink(entry);
  if (isOf(entry, 'trojan')) return trojanLink(entry);
  if (isOf(entry, 'shadowsocks')) return shadowsocksLink(entry);
  if (isOf(entry, 'hysteria')) return hysteriaLink(entry);
  if (isOf(entry, 'tuic')) return tuicLink(entry);
  if (isOf(entry, 'http')) return httpLink(entry);
  if (isOf(entry, 'mixed')) return socksLink(entry);
  if (isOf(entry, 'mtproto')) return mtprotoLink(entry);
  if (isOf(entry, 'wireguard')) return wireguardLink(entry);
  if (entry.account.protocol === 'amneziawg') return amneziawgLink(entry);
  throw new Error(cannotLink(entry) ?? 'no share link');
}
