// The networks that an address belongs to. One household has a whole IPv6 /64, and many have a /56 or a /48 (RFC 6177).
import { isIPv4, isIPv6 } from 'node:net';

/** The eight groups of an IPv6 address that `isIPv6` accepts (RFC 4291, section 2.2). */
function groupsOf(ip: string): number[] {
  const [address = ''] = ip.split('%');
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex = (high: string | undefined, low: string | undefined): string =>
    (Number(high) * 256 + Number(low)).toString(16);
  const plain = dotted ? `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}` : address;
  const [head = '', tail] = plain.split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}

const hexOf = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':');

export interface Networks {
  /** the address itself, or its IPv6 /64 */
  readonly own: string;
  /** the /56 and the /48 around an IPv6 address, the smaller one first; empty for IPv4 */
  readonly around: readonly [fiftySix: string, fortyEight: string] | readonly [];
}

/** Every spelling of an address gives the same networks. */
export function networksOf(ip: string): Networks {
  if (isIPv4(ip) || !isIPv6(ip)) return { own: ip, around: [] };
  const groups = groupsOf(ip);
  const [, , , fourth = 0, , mark, high = 0, low = 0] = groups;
  if (mark === 0xffff && groups.slice(0, 5).every((group) => group === 0))
    return { own: [high >> 8, high & 255, low >> 8, low & 255].join('.'), around: [] };
  const site = groups.slice(0, 3);
  return {
    own: `${hexOf([...site, fourth])}::/64`,
    around: [`${hexOf([...site, fourth & 0xff00])}::/56`, `${hexOf(site)}::/48`],
  };
}
