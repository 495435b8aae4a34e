// Networks: which lie in which, and which may be routed into a tunnel.
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ServerBlock } from './server-block.js';
import { prefixV6Of, subnetOf } from './server-block.js';

/** For private use (RFC 1918, RFC 6598, RFC 2544, RFC 4193): routing other networks into a tunnel would take them from this machine. */
const PRIVATE_USE = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  'fc00::/7',
];

const parts = (prefix: string): readonly [address: string, length: number, family: 'ipv4' | 'ipv6'] => {
  const [address = '', length = ''] = prefix.split('/');
  return [address, Number(length), isIP(address) === 6 ? 'ipv6' : 'ipv4'];
};
const blockOf = (prefix: string): BlockList => {
  const block = new BlockList();
  block.addSubnet(...parts(prefix));
  return block;
};

/** Whether all of `inner` lies in `outer`. */
export function contains(outer: string, inner: string): boolean {
  const [address, length, family] = parts(inner);
  const [, outerLength, outerFamily] = parts(outer);
  return family === outerFamily && length >= outerLength && blockOf(outer).check(address, family);
}
/** Whether they share an address. */
export const overlap = (one: string, other: string): boolean => contains(one, other) || contains(other, one);

export const isForPrivateUse = (prefix: string): boolean =>
  PRIVATE_USE.some((range) => contains(range, prefix));

/** Networks of the inbound itself. */
export const ownNetworks = (server: ServerBlock): string[] => {
  const prefix = prefixV6Of(server);
  return [subnetOf(server).network, ...(prefix === undefined ? [] : [prefix])];
};

/** Networks on this machine's interfaces, loopback included; without those whose interface `isOurs`. */
export function machineNetworks(isOurs: (interfaceName: string) => boolean): string[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    isOurs(name) ? [] : (addresses ?? []).flatMap(({ cidr }) => cidr ?? []),
  );
}
