// Finds clients by a text, such as their email. A Map would hold the text of each key and a table of 37 bytes for each
// client; this one holds 8 to 18 bytes, and asks the client for its text.
import { randomBytes } from 'node:crypto';
import type { ClientRow } from './row.js';

const LEAST_PLACES = 16;
/** of eight places */
const MOST_TAKEN = 7;
/** Another one in each process: nobody can choose texts that share a place. */
const SEED = randomBytes(4).readInt32LE();

/** FNV-1a, and the first steps of the finaliser of MurmurHash3: the lowest bits of FNV alone say little. */
function hashOf(text: string): number {
  let hash = SEED;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

/** Open addressing with linear probing: a key is at its place or at one of the next, without a gap between. */
export class RowIndex {
  readonly #keyOf: (row: ClientRow) => string;
  readonly #rowOf: (id: number) => ClientRow | undefined;
  /** two numbers a place: the id of the client, 0 for none, and the hash of its key */
  #places = new Int32Array(2 * LEAST_PLACES);
  #size = 0;

  /** `rowOf` must know every client that is in the index, and its key must not change meanwhile. */
  constructor(keyOf: (row: ClientRow) => string, rowOf: (id: number) => ClientRow | undefined) {
    this.#keyOf = keyOf;
    this.#rowOf = rowOf;
  }

  get(key: string): ClientRow | undefined {
    const id = this.#places[this.#find(key, hashOf(key))] as number;
    return id === 0 ? undefined : this.#rowOf(id);
  }

  /** The client takes the place of another one with its key. */
  set(row: ClientRow): void {
    const key = this.#keyOf(row);
    const hash = hashOf(key);
    let at = this.#find(key, hash);
    if (this.#places[at] === 0) {
      this.#size += 1;
      if (16 * this.#size > MOST_TAKEN * this.#places.length) {
        this.#grow();
        at = this.#free(hash);
      }
    }
    this.#places[at] = row.id;
    this.#places[at + 1] = hash;
  }

  delete(key: string): void {
    const places = this.#places;
    let gap = this.#find(key, hashOf(key));
    if (places[gap] === 0) return;
    this.#size -= 1;
    // Those behind move up, unless they would come before their place.
    for (let at = this.#next(gap); places[at] !== 0; at = this.#next(at)) {
      const home = this.#home(places[at + 1] as number);
      const mask = places.length - 1;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      places[gap] = places[at] as number;
      places[gap + 1] = places[at + 1] as number;
      gap = at;
    }
    places[gap] = 0;
  }

  #home(hash: number): number {
    return (2 * hash) & (this.#places.length - 1);
  }
  #next(at: number): number {
    return (at + 2) & (this.#places.length - 1);
  }

  /** Where the key is, or the free place where it would be. */
  #find(key: string, hash: number): number {
    const places = this.#places;
    for (let at = this.#home(hash); ; at = this.#next(at)) {
      const id = places[at] as number;
      if (id === 0) return at;
      if (places[at + 1] !== hash) continue;
      const row = this.#rowOf(id);
      if (row && this.#keyOf(row) === key) return at;
    }
  }
  #free(hash: number): number {
    let at = this.#home(hash);
    while (this.#places[at] !== 0) at = this.#next(at);
    return at;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Int32Array(2 * before.length);
    for (let i = 0; i < before.length; i += 2) {
      if (before[i] === 0) continue;
      const hash = before[i + 1] as number;
      const at = this.#free(hash);
      this.#places[at] = before[i] as number;
      this.#places[at + 1] = hash;
    }
  }
}
