// Networks of addresses, and lists of them.
import { isIPv6 } from 'node:net';
import { canonicalAddress, ipv6Groups } from './host-name.js';

/** The bits that mark an IPv4 address within IPv6. */
const MAPPED_BITS = 96;
const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** The IPv4 address itself, or the /64 of an IPv6 address: the smallest network that one household has (RFC 6177). Takes a canonical address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = ipv6Groups(address).slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** An address as words of 32 bits: one of IPv4, four of IPv6. Takes a canonical address. */
function wordsOf(address: string): number[] {
  if (!address.includes(':'))
    return [address.split('.').reduce((word, byte) => (word << 8) | Number(byte), 0)];
  const groups = ipv6Groups(address);
  return [0, 2, 4, 6].map((at) => ((groups[at] ?? 0) << 16) | (groups[at + 1] ?? 0));
}

interface Network {
  readonly words: readonly number[];
  /** bits that count */
  readonly length: number;
}
const holds = ({ words, length }: Network, address: readonly number[]): boolean =>
  words.length === address.length &&
  words.every((word, i) => {
    const bits = length - 32 * i;
    return bits <= 0 || (word ^ (address[i] as number)) >>> Math.max(32 - bits, 0) === 0;
  });

/** A list of addresses and networks; looking one up costs a step for each entry. Node's BlockList makes an object for each look-up, which costs ten times as much. */
export class NetworkList {
  readonly #networks: Network[] = [];

  /** Throws with the entry that is neither address nor CIDR. Zones are refused: they would be ignored. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry);
  }

  #add(entry: string): void {
    const [, written = '', digits] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const address = canonicalAddress(written);
    const bits = isIPv6(written) ? 128 : 32;
    const length =
      Number(digits ?? bits) - (address && familyOf(address) !== familyOf(written) ? MAPPED_BITS : 0);
    if (address === undefined || Number(digits ?? bits) > bits || length < 0)
      throw new Error(`"${entry.slice(0, 100)}" is neither an address nor a CIDR`);
    this.#networks.push({ words: wordsOf(address), length });
  }

  /** Takes an address in any spelling; false for another text. */
  has(text: string): boolean {
    if (this.#networks.length === 0) return false;
    const address = canonicalAddress(text);
    if (address === undefined) return false;
    const words = wordsOf(address);
    return this.#networks.some((network) => holds(network, words));
  }
}
