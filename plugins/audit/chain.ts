// The chain of hashes over all entries: HMAC-SHA256 (RFC 2104) of an entry, its changes and the hash of the entry before.
// Who can write the database and lacks the key, which is sealed with a key outside of it, cannot make a fitting hash.
import { createHmac } from 'node:crypto';
import type { ChangeKind } from './contract.js';

export interface EntryFacts {
  readonly id: number;
  /** Unix ms */
  readonly at: number;
  readonly whoKind: string;
  readonly who: string;
  readonly ip: string;
  readonly area: string;
  /** the entry that this one undoes; 0 for none */
  readonly undoes: number;
}
/** A change as it is stored; `fields` is JSON text. */
export interface StoredChange {
  readonly kind: ChangeKind;
  readonly name: string;
  readonly subject: string;
  readonly fields: string;
}
/** An entry of the chain, by its number and hash. */
export interface Link {
  readonly id: number;
  readonly hash: string;
}
/** Before the first entry. */
export const BEGINNING: Link = { id: 0, hash: '' };

export class LinkHash {
  readonly #hmac: ReturnType<typeof createHmac>;

  constructor(key: Buffer, before: string, { id, at, whoKind, who, ip, area, undoes }: EntryFacts) {
    // Entries of before this field, and nearly all others, have the hash that they had without it.
    const facts = [before, id, at, whoKind, who, ip, area, ...(undoes > 0 ? [undoes] : [])];
    this.#hmac = createHmac('sha256', key).update(JSON.stringify(facts));
  }

  add({ kind, name, subject, fields }: StoredChange): void {
    this.#hmac.update(`\n${JSON.stringify([kind, name, subject, fields])}`);
  }

  /** in hexadecimal */
  end(): string {
    return this.#hmac.digest('hex');
  }
}

/** Where a chain begins: behind entries that were removed for their age, or whose key was lost. */
export interface Beginning {
  readonly removed: Link;
  readonly lostId: number;
}
/** HMAC of a beginning, in hexadecimal. */
export const macOf = (key: Buffer, { removed: { id, hash }, lostId }: Beginning): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['removed', id, hash, lostId]))
    .digest('hex');
