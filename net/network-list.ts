// Networks of addresses, and lists of them.
import { BlockList, isIPv6 } from 'node:net';
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

/** A list of addresses and networks; looking one up costs a step for each entry. */
export class NetworkList {
  readonly #list = new BlockList();
  readonly #isEmpty: boolean;

  /** Throws with the entry that is neither address nor CIDR. Zones are refused: they would be ignored. */
  constructor(entries: readonly string[]) {
    this.#isEmpty = entries.length === 0;
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
    this.#list.addSubnet(address, length, familyOf(address));
  }

  /** Takes an address in any spelling; false for another text. */
  has(text: string): boolean {
    // The look-up makes an object for the address, which costs more than all else here.
    if (this.#isEmpty) return false;
    const address = canonicalAddress(text);
    return address !== undefined && this.#list.check(address, familyOf(address));
  }
}
