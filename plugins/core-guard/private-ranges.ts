// Addresses that are not public: this machine, its network, and services of cloud providers. Users of the core and
// fallbacks must not reach them.
import { BlockList, isIPv6 } from 'node:net';

// IANA special-purpose registries (RFC 6890 and its updates). Named here, so that no geodata file is needed.
const IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  // carrier-grade NAT; 100.100.100.200 in it is the metadata service of a cloud
  '100.64.0.0/10',
  '127.0.0.0/8',
  // 169.254.169.254 in it is the metadata service of nearly all clouds
  '169.254.0.0/16',
  // metadata service of Azure, although the address is public
  '168.63.129.16/32',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

const IPV6 = [
  // unspecified, loopback, and IPv4-compatible addresses (RFC 4291); the core itself reads mapped ones as IPv4
  '::/96',
  // IPv4-translated (RFC 2765)
  '::ffff:0:0:0/96',
  // NAT64 of the local network (RFC 8215)
  '64:ff9b:1::/48',
  '100::/64',
  // Teredo and other tunnels (RFC 2928)
  '2001::/23',
  // 6to4 (RFC 3056): carries an IPv4 address; no longer in use
  '2002::/16',
  '5f00::/16',
  // fd00:ec2::254 in it is the metadata service of a cloud
  'fc00::/7',
  'fe80::/9',
  'ff00::/8',
];

/**
 * NAT64 (RFC 6052) carries an IPv4 address in its last 32 bits. Public ones stay open: a machine without IPv4 reaches
 * half of the internet through them.
 */
function inNat64(range: string): string {
  const [address = '', prefix] = range.split('/');
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const word = (high: number, low: number): string => (high * 256 + low).toString(16);
  return `64:ff9b::${word(a, b)}:${word(c, d)}/${96 + Number(prefix)}`;
}

/** As `address/prefix`. */
export const PRIVATE_RANGES: readonly string[] = [...IPV4, ...IPV6, ...IPV4.map(inNat64)];

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

const ranges = new BlockList();
for (const range of PRIVATE_RANGES) {
  const [address = '', prefix] = range.split('/');
  ranges.addSubnet(address, Number(prefix), familyOf(address));
}

/** @param address an IP address without a zone */
export const isPrivate = (address: string): boolean => ranges.check(address, familyOf(address));
