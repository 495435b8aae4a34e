// Addresses with the length of their prefix, as WireGuard's allowed IPs have them.
import { isIP } from 'node:net';
import { canonicalAddress, ipv6Groups } from '../../../../kernel/index.js';

export interface Prefix {
  /** as it is shown: `10.0.0.2/32`. An address without length gets the longest one. */
  readonly text: string;
  /** one spelling of the same network, without the bits behind the prefix: no two clients of an inbound may have it */
  readonly network: string;
}

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
export const toAddress = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

const networkOfV4 = (address: string, length: number): string => {
  const size = 2 ** (32 - length);
  return `${toAddress(Math.floor(toNumber(address) / size) * size)}/${length}`;
};
const networkOfV6 = (address: string, length: number): string => {
  const groups = ipv6Groups(address).map((group, i) => {
    const bits = Math.min(16, Math.max(0, length - 16 * i));
    return (group & (0xffff << (16 - bits)) & 0xffff).toString(16);
  });
  return `${canonicalAddress(groups.join(':')) ?? address}/${length}`;
};

/** Undefined for a text that is no address and no prefix. */
export function prefixOf(text: string): Prefix | undefined {
  const [, address = '', sent] = /^([^/\s%]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const family = isIP(address);
  if (family === 0) return undefined;
  const longest = family === 4 ? 32 : 128;
  const length = sent === undefined ? longest : Number(sent);
  if (length > longest) return undefined;
  const shown = canonicalAddress(address) ?? address;
  // IPv4 within IPv6 would be a third spelling.
  if (isIP(shown) !== family) return undefined;
  const network = family === 4 ? networkOfV4(shown, length) : networkOfV6(shown, length);
  return { text: `${shown}/${length}`, network };
}

/** The number of an IPv4 address; undefined for a prefix that is not one IPv4 address. */
export function hostNumber(network: string): number | undefined {
  const [, address = ''] = /^([\d.]+)\/32$/.exec(network) ?? [];
  return isIP(address) === 4 ? toNumber(address) : undefined;
}
/** The number of the first address of an IPv4 prefix. */
export function firstNumber(network: string): number | undefined {
  const [address = ''] = network.split('/');
  return isIP(address) === 4 ? toNumber(address) : undefined;
}
