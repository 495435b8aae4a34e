// What the program, or this machine's network, demands of a server block, beyond the rules of the protocol.
import type { Issue } from '../../kernel/index.js';
import { tagsProblem } from './junk-tags.js';
import { contains, isForPrivateUse, overlap, ownNetworks } from './networks.js';
import { numberIn, prefixV6Of, type ServerBlock, subnetOf, textIn } from './server-block.js';

const PACKETS = ['i1', 'i2', 'i3', 'i4', 'i5'];
/** Bytes of each kind of message, without what is put before it; the program tells them apart by their length. */
const SIZES = [
  ['s1', 148],
  ['s2', 92],
  ['s3', 64],
  ['s4', 32],
] as const;

/** What a host must take in one piece, in IPv4 (RFC 791) and in IPv6 (RFC 8200). */
const LEAST_MTU = 576;
const LEAST_MTU_V6 = 1280;
const UNICAST_V6 = ['fc00::/7', '2000::/3'];

const issue = (field: string, message: string): Issue => ({ path: `settings.server.${field}`, message });

function sizeProblem(server: ServerBlock): Issue | undefined {
  const seen = new Map<number, string>();
  for (const [field, own] of SIZES) {
    const size = own + numberIn(server, field);
    const other = seen.get(size);
    if (other !== undefined)
      return issue(
        field,
        `with this ${field} and this ${other} two kinds of packets have the same length, ${size} bytes; change one of them`,
      );
    seen.set(size, field);
  }
  return undefined;
}

function packetProblem(server: ServerBlock): Issue | undefined {
  let blank: string | undefined;
  for (const field of PACKETS) {
    const text = textIn(server, field);
    const problem = tagsProblem(text);
    if (problem !== undefined) return issue(field, problem);
    if (text === '') blank ??= field;
    else if (blank !== undefined)
      return issue(field, `${blank} is blank; the packets before it must be there`);
  }
  return undefined;
}

function networkProblem(server: ServerBlock): Issue | undefined {
  const { network } = subnetOf(server);
  if (!isForPrivateUse(network))
    return issue(
      'subnetIp',
      `${network} is not for private use, and this machine would no longer reach its addresses; use one such as 10.8.1.0/24`,
    );
  const prefix = prefixV6Of(server);
  if (prefix === undefined) return undefined;
  // Also without a zone (`%eth0`), and no IPv4 address in another spelling.
  if (!/^[\da-f:]+\/\d+$/i.test(prefix) || !UNICAST_V6.some((range) => contains(range, prefix)))
    return issue(
      'ipv6Subnet',
      'it must be a prefix for hosts, within fc00::/7 or 2000::/3, such as fd00:8::/64',
    );
  const length = Number(prefix.split('/')[1]);
  return length >= 48 && length <= 126
    ? undefined
    : issue('ipv6Subnet', 'its length must be from 48 to 126, such as fd00:8::/64');
}

function keyProblem(server: ServerBlock): Issue | undefined {
  return /^A*=?$/.test(textIn(server, 'privateKey')) && textIn(server, 'privateKey') !== ''
    ? issue('privateKey', 'it is all zeros, which the program takes for none; leave it blank for a new one')
    : undefined;
}

function mtuProblem(server: ServerBlock): Issue | undefined {
  const mtu = numberIn(server, 'mtu');
  const least = prefixV6Of(server) === undefined ? LEAST_MTU : LEAST_MTU_V6;
  if (mtu === 0 || mtu >= least) return undefined;
  return issue(
    'mtu',
    `it must be at least ${least}${least === LEAST_MTU_V6 ? ', as IPv6 needs it' : ''}, or 0 for the usual one`,
  );
}

/** Returns the first thing wrong with a server block; undefined for a good one. */
export const settingsProblem = (server: ServerBlock): Issue | undefined =>
  keyProblem(server) ??
  sizeProblem(server) ??
  packetProblem(server) ??
  networkProblem(server) ??
  mtuProblem(server);

/** An inbound beside the one that is checked. */
export interface OtherInbound {
  readonly id: number;
  readonly server: ServerBlock;
}

/** Returns the inbound whose networks these overlap. */
export const sharingNetwork = (
  server: ServerBlock,
  others: readonly OtherInbound[],
): OtherInbound | undefined =>
  others.find((other) =>
    ownNetworks(server).some((one) => ownNetworks(other.server).some((two) => overlap(one, two))),
  );

const MOST_SUBNETS = 256 * 8;
/** Returns the first /24 from 10.8.1.0 on that is free; undefined if there is none. */
export function freeSubnet(taken: readonly string[]): string | undefined {
  for (let i = 1; i < MOST_SUBNETS; i++) {
    const first = `10.${8 + Math.floor(i / 256)}.${i % 256}.0`;
    if (!taken.some((one) => overlap(`${first}/24`, one))) return first;
  }
  return undefined;
}
