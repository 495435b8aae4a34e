// A proxy of mihomo from an entry, for any protocol. Source: wiki.metacubex.one, proxies, common fields.
import { type EntryTemplate, isOf, type WireguardAccount } from '../../inbounds/contract.js';
import type { WriteEntry } from '../../subscription/contract.js';
import { compileKeys, type Keys } from '../yaml-text.js';
import { cannotProxy } from './cannot.js';
import { hysteriaKeys, tuicKeys } from './over-udp.js';
import { httpKeys, socksKeys, trojanKeys, vlessKeys, vmessKeys } from './protocols.js';
import { shadowsocksKeys } from './shadowsocks.js';
import { amneziawgKeys, wireguardKeys, withPrivateKey } from './wireguard.js';

function protocolKeys(entry: EntryTemplate): Keys {
  if (isOf(entry, 'vless')) return vlessKeys(entry);
  if (isOf(entry, 'vmess')) return vmessKeys(entry);
  if (isOf(entry, 'trojan')) return trojanKeys(entry);
  if (isOf(entry, 'shadowsocks')) return shadowsocksKeys(entry);
  if (isOf(entry, 'hysteria')) return hysteriaKeys(entry);
  if (isOf(entry, 'tuic')) return tuicKeys(entry);
  if (isOf(entry, 'http')) return httpKeys(entry);
  if (isOf(entry, 'mixed')) return socksKeys(entry);
  if (isOf(entry, 'wireguard')) return wireguardKeys(entry);
  if (entry.account.protocol === 'amneziawg') return amneziawgKeys(entry);
  throw new Error(cannotProxy(entry) ?? 'no words for it');
}

/** Of the operating system; the rest of these options has no place. */
const socketKeys = ({ socket, ipVersion }: EntryTemplate): Keys => ({
  tfo: socket?.tcpFastOpen || undefined,
  mptcp: socket?.tcpMptcp || undefined,
  'interface-name': socket?.interface || undefined,
  'routing-mark': socket?.mark || undefined,
  'ip-version': ipVersion,
});

/** Compiles the proxy of an entry, of the keys that the program knows: what all clients share is written once. */
export function compileProxy(
  entry: EntryTemplate,
  nameOf: (name: string) => string,
  isKnown: (key: string) => boolean = () => true,
): WriteEntry {
  const { port, account } = entry;
  const { type, ...keys } = protocolKeys(entry);
  const udp = type === 'http' ? {} : { udp: true };
  const all = Object.entries({ type, port, ...udp, ...keys, ...socketKeys(entry) });
  const write = compileKeys(Object.fromEntries(all.filter(([key]) => isKnown(key))), nameOf);
  return account.protocol === 'wireguard' || account.protocol === 'amneziawg'
    ? withPrivateKey(entry as EntryTemplate<WireguardAccount>, write)
    : write;
}
