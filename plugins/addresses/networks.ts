// Networks that a setting lists: one text of addresses and CIDRs.
import { NetworkList } from '../../kernel/index.js';

/** A look-up compares with each entry, and there is one for each connection. */
const MOST_ENTRIES = 1000;

/** Takes `192.0.2.1, 2001:db8::/32`; throws with the entry that is neither address nor CIDR. */
export function networksIn(text: string): NetworkList {
  const entries = text.split(/[\s,]+/).filter(Boolean);
  if (entries.length > MOST_ENTRIES) throw new Error(`it has more than ${MOST_ENTRIES} entries`);
  return new NetworkList(entries);
}

/** The networks of a setting, read again only when its text changes. */
export class ListedNetworks {
  #text = '';
  #list = new NetworkList([]);

  has(text: string, address: string): boolean {
    if (text !== this.#text) [this.#text, this.#list] = [text, networksIn(text)];
    return this.#list.has(address);
  }
}
