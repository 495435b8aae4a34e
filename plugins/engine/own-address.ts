// The panel does not listen to users of the core: one who goes through it to a public address of this machine comes from
// that same address, and no firewall stands in between. Loopback and private addresses are closed to them anyway.
import { BlockList, isIPv6, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { PRIVATE } from './private-ranges.js';

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

const privateAddresses = new BlockList();
for (const range of PRIVATE) {
  const [address = '', prefix] = range.split('/');
  privateAddresses.addSubnet(address, Number(prefix), familyOf(address));
}

/** Addresses come and go while the panel runs, so they are asked for anew. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

/** Whether this connection comes from a public address of this machine itself. */
export function comesFromOurAddress({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): boolean {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
  return !privateAddresses.check(address, familyOf(address)) && ownAddresses().includes(address);
}
