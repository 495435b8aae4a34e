// The networks of an address. One household has a whole IPv6 /64, and many have a /56 or a /48 (RFC 6177).
import { isIPv6 } from 'node:net';
import { canonicalAddress, ipv6Groups, networkOf } from '../../kernel/index.js';

const hexOf = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':');

export interface Networks {
  /** the address itself, or its IPv6 /64 */
  readonly own: string;
  /** the /56 and the /48 around an IPv6 address, the smaller one first; empty for IPv4 */
  readonly around: readonly [fiftySix: string, fortyEight: string] | readonly [];
}

/** Every spelling of an address gives the same networks. */
export function networksOf(ip: string): Networks {
  const address = canonicalAddress(ip) ?? ip;
  if (!isIPv6(address)) return { own: address, around: [] };
  const groups = ipv6Groups(address);
  const [, , , fourth = 0] = groups;
  const site = groups.slice(0, 3);
  return {
    own: networkOf(address),
    around: [`${hexOf([...site, fourth & 0xff00])}::/56`, `${hexOf(site)}::/48`],
  };
}
