// The entries of a list of inbounds, in the order of each client: hosts may ask for a shuffled one, so that not all
// clients try the same address first. A client keeps its order, so that its config does not change with every fetch.
import type { CompiledEntry } from './entries.js';

/** Orders that clients share; each is made when the first client needs it. */
const ORDERS = 64;

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class SelectedEntries {
  readonly #entries: readonly CompiledEntry[];
  /** positions that change places with each other */
  readonly #shuffled: readonly (readonly number[])[];
  readonly #orders = new Map<number, readonly CompiledEntry[]>();

  constructor(entries: readonly CompiledEntry[]) {
    this.#entries = entries;
    const positions = new Map<string, number[]>();
    for (const [i, { shuffle }] of entries.entries())
      if (shuffle !== '') positions.set(shuffle, [...(positions.get(shuffle) ?? []), i]);
    this.#shuffled = [...positions.values()].filter(({ length }) => length > 1);
  }

  of(clientId: number): readonly CompiledEntry[] {
    if (this.#shuffled.length === 0) return this.#entries;
    const order = clientId % ORDERS;
    const known = this.#orders.get(order);
    if (known) return known;
    const made = this.#order(order);
    this.#orders.set(order, made);
    return made;
  }

  #order(seed: number): readonly CompiledEntry[] {
    const next = numbersFrom(seed);
    const entries = [...this.#entries];
    for (const positions of this.#shuffled)
      for (let i = positions.length - 1; i > 0; i--) {
        const [a, b] = [positions[i] as number, positions[Math.floor(next() * (i + 1))] as number];
        [entries[a], entries[b]] = [entries[b] as CompiledEntry, entries[a] as CompiledEntry];
      }
    return entries;
  }
}
