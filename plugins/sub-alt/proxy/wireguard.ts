// WireGuard and AmneziaWG as keys of a proxy. Source: wiki.metacubex.one, proxies, WireGuard.
import { isIP, isIPv4 } from 'node:net';
import {
  type AccountValue,
  type ByClient,
  type EntryTemplate,
  valueFor,
  type WireguardAccount,
} from '../../inbounds/contract.js';
import type { WriteEntry } from '../../subscription/contract.js';
import type { Hole, Keys, Value } from '../yaml-text.js';
import { each } from './protocols.js';

const bare = (address: string): string => address.trim().replace(/\/\d+$/, '');
const firstOf = (address: ByClient<readonly string[]>, isWanted: (bare: string) => boolean): Value | Hole =>
  each(address, (all) => all.map(bare).find(isWanted));
const positive = (value: ByClient<number>): Value | Hole =>
  each(value, (given) => (given > 0 ? given : undefined));

/** Read only if names are resolved on the other side, so both are said or neither. */
function dnsKeys(dns: ByClient<string>): Keys {
  const servers = (text: string): string[] =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => isIP(one) !== 0);
  const listOf = (text: string): Value => (servers(text).length > 0 ? servers(text) : undefined);
  return {
    'remote-dns-resolve': each(dns, (text) => servers(text).length > 0 || undefined),
    dns: each(dns, listOf),
  };
}

export const wireguardKeys = ({ account }: EntryTemplate<WireguardAccount>): Keys => ({
  type: 'wireguard',
  'private-key': each(account.privateKey, (key) => key),
  'public-key': each(account.publicKey, (key) => key),
  'pre-shared-key': each(account.preSharedKey, (key) => key || undefined),
  ip: firstOf(account.address, isIPv4),
  ipv6: firstOf(account.address, (address) => isIP(address) !== 0 && !isIPv4(address)),
  'allowed-ips': ['0.0.0.0/0', '::/0'],
  'persistent-keepalive': positive(account.keepAlive),
  mtu: positive(account.mtu),
  ...dnsKeys(account.dns),
});

/** Leaves out a client whose private key only it knows. */
export function withPrivateKey({ account }: EntryTemplate<WireguardAccount>, write: WriteEntry): WriteEntry {
  const { privateKey } = account;
  return (fill) => (valueFor(privateKey, fill.client) === '' ? '' : write(fill));
}

const OF_ALL = ['jc', 'jmin', 'jmax', 's1', 's2', 's3', 's4'];
const HEADERS = ['h1', 'h2', 'h3', 'h4'];
const JUNK = ['i1', 'i2', 'i3', 'i4', 'i5'];
/** AmneziaWG 3; programs that do not know it read past these keys. */
const OF_THREE: readonly (readonly [field: string, key: string])[] = [
  ['headerProtectionKey', 'header-protection-key'],
  ['contentPaddingAddition', 'content-padding-addition'],
  ['rekeyAfterTime', 'rekey-after-time'],
  ['rekeyTimeout', 'rekey-timeout'],
  ['rejectAfterTime', 'reject-after-time'],
  ['keepaliveTimeout', 'keepalive-timeout'],
  ['maxHandshakeAttempts', 'max-handshake-attempts'],
  ['randomTrailers', 'random-trailers'],
  ['disableCookies', 'disable-cookies'],
];

type Values = Readonly<Record<string, AccountValue | undefined>>;
const plain = (value: AccountValue | undefined): Value =>
  typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : (value as Value);

/** The disguise is one of the inbound: the same for all clients. */
export function amneziawgKeys(entry: EntryTemplate): Keys {
  const values = entry.account as Values;
  const said = (field: string): boolean => ![undefined, '', 0, false].includes(values[field] as never);
  const three = OF_THREE.filter(([field]) => said(field));
  return {
    ...wireguardKeys(entry as EntryTemplate<WireguardAccount>),
    'amnezia-wg-option': {
      ...Object.fromEntries(OF_ALL.filter(said).map((field) => [field, Number(values[field])])),
      ...Object.fromEntries(HEADERS.filter(said).map((field) => [field, plain(values[field])])),
      ...Object.fromEntries(JUNK.filter(said).map((field) => [field, String(values[field])])),
      ...Object.fromEntries(three.map(([field, key]) => [key, values[field] as Value])),
      ...(three.length > 0 && { version: 3 }),
    },
  };
}
