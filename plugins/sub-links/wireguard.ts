// A link of WireGuard, as v2rayN and Xray's client programs read it; no authority has written its grammar down.
import { type ByClient, type EntryTemplate, valueFor, type WireguardAccount } from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';
import { compileQuery, type Param, textFor, type WriteLink } from './share-link.js';

const mapped = <T>(value: ByClient<T>, write: (value: T) => string): Param =>
  typeof value === 'function'
    ? (client) => write(valueFor(value, client)) || undefined
    : write(value) || undefined;
const positive = (value: number): string => (value > 0 ? String(value) : '');
const same = (value: string): string => value;

/** Empty for a client whose private key only it knows: without the key there is nothing to connect with. */
export function wireguardLink({ account }: EntryTemplate<WireguardAccount>): WriteLink {
  const privateKey = textFor(account.privateKey);
  const query = compileQuery({
    publickey: mapped(account.publicKey, same),
    address: mapped(account.address, (addresses) => addresses.join(',')),
    presharedkey: mapped(account.preSharedKey, same),
    keepalive: mapped(account.keepAlive, positive),
    mtu: mapped(account.mtu, positive),
    dns: mapped(account.dns, same),
  });
  return ({ client, authority, fragment }) => {
    const own = privateKey(client);
    return own === '' ? '' : `wireguard://${percentEncode(own)}@${authority}?${query(client)}${fragment}`;
  };
}
