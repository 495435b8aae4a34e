// Networks of addresses: what counts as one place of a client, and lists of networks in settings.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { canonicalAddress, ipv6Groups } from '../../kernel/index.js';

const MOST_ENTRIES = 1000;
const IPV4_BITS = 32;
const IPV6_BITS = 128;
/** The bits that mark an IPv4 address within IPv6. */
const MAPPED_BITS = 96;

/**
 * What counts as one address of a client: an IPv4 address, or the /64 of an IPv6 address (RFC 6177: one link of one
 * household). A phone takes another IPv6 address of its /64 every few hours (RFC 8981), and often uses two at once.
 * Takes a canonical address.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  return `${ipv6Groups(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** A list of addresses and networks. */
export class NetworkList {
  readonly #list = new BlockList();

  /** Takes `192.0.2.1, 2001:db8::/32`; throws with the entry that is neither address nor network. */
  constructor(text: string) {
    const entries = text.split(/[\s,]+/).filter(Boolean);
    if (entries.length > MOST_ENTRIES) throw new Error(`it has more than ${MOST_ENTRIES} entries`);
    for (const entry of entries) this.#add(entry);
  }

  #add(entry: string): void {
    const [, written = '', digits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const address = written.includes('%') ? undefined : canonicalAddress(written);
    const bits = isIP(written) === 6 ? IPV6_BITS : IPV4_BITS;
    const isMapped = bits === IPV6_BITS && address !== undefined && !isIPv6(address);
    const length = Number(digits ?? bits) - (isMapped ? MAPPED_BITS : 0);
    if (address === undefined || Number(digits ?? 0) > bits || length < 0)
      throw new Error(
        `${JSON.stringify(entry.slice(0, 100))} is neither an address nor a network; write 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32`,
      );
    this.#list.addSubnet(address, length, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  /** Takes a canonical address. */
  has(address: string): boolean {
    return this.#list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}
