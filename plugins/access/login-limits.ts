// Counts failures per source and blocks a source that fails too often. A source is whatever can be told apart: an
// address, a network, a device, an address with one user name. Checks under way count too, so that many at once gain nothing.
import { hash } from 'node:crypto';
import type { Clock } from '../../kernel/index.js';
import type { BlockStore } from './block-store.js';

const WINDOW_MS = 5 * 60_000;
export const BLOCK_MS = 15 * 60_000;
/** How soon a caller may try again that waits for checks under way. */
const SOON_MS = 1000;
const MOST_COUNTS = 20_000;
const MOST_BLOCKS = 10_000;

/** So many failures of a source within five minutes block it for fifteen. */
export interface Limit {
  readonly source: string;
  readonly most: number;
}
interface Count {
  failures: number[];
  underWay: number;
}
export type Outcome = 'succeeded' | 'failed' | 'undecided';
/** Ends a check that was let in; call it once. */
export type Finish = (outcome: Outcome) => void;

/** Fixed in size, and no user name is written down: people type passwords into that field too. */
const keyOf = (source: string): string => hash('sha256', source);

export class LoginLimits {
  readonly #clock: Clock;
  readonly #store: BlockStore;
  /** by key; touched ones move to the end */
  readonly #counts = new Map<string, Count>();
  /** Until when (Unix ms), by key. All blocks last equally long, so the first one ends first. */
  readonly #blocks = new Map<string, number>();

  constructor({ clock, blocks }: { clock: Clock; blocks: BlockStore }) {
    this.#clock = clock;
    this.#store = blocks;
  }

  /** Takes over the blocks of the last run. */
  async load(): Promise<void> {
    const now = this.#clock.now();
    // A clock that was wrong then must not block for years.
    for (const { source, blockedUntil } of await this.#store.load())
      if (blockedUntil > now) this.#blocks.set(source, Math.min(blockedUntil, now + BLOCK_MS));
  }

  /** Writes down the blocks since the last call. */
  flush(): Promise<void> {
    this.#dropOldBlocks();
    return this.#store.flush(this.#blocks.values().next().value ?? Number.MAX_SAFE_INTEGER);
  }

  /** How many ms the longest block of these sources still lasts; 0 when none is blocked. */
  blockedFor(sources: readonly string[]): number {
    const now = this.#clock.now();
    return Math.max(0, ...sources.map((source) => (this.#blocks.get(keyOf(source)) ?? 0) - now));
  }

  /** Lets a check in, or answers how many ms to wait. A source that has no failure left but checks under way is not blocked yet. The outcome counts for the sources of `also` as well, which are not asked. */
  admit(limits: readonly Limit[], also: readonly Limit[] = []): Finish | { readonly waitMs: number } {
    const blocked = this.blockedFor(limits.map(({ source }) => source));
    if (blocked > 0) return { waitMs: blocked };
    const counted = limits.map(({ source, most }) => {
      const key = keyOf(source);
      return { key, most, count: this.#count(key) };
    });
    if (counted.some(({ count, most }) => count.failures.length + count.underWay >= most)) {
      this.#dropEmpty(counted);
      return { waitMs: SOON_MS };
    }
    for (const { count } of counted) count.underWay++;
    return (outcome) => {
      for (const { count } of counted) count.underWay--;
      if (outcome === 'failed') {
        for (const { key, most, count } of counted) this.#fail(key, most, count);
        for (const { source, most } of also) this.#fail(keyOf(source), most, this.#count(keyOf(source)));
      }
      // One success says nothing about the other names and addresses that the wider sources count.
      const narrowest = counted.at(-1);
      if (outcome === 'succeeded' && narrowest) narrowest.count.failures = [];
      const alsoNarrowest = also.at(-1);
      if (outcome === 'succeeded' && alsoNarrowest) this.#forgive(keyOf(alsoNarrowest.source));
      this.#dropEmpty(counted);
    };
  }

  #forgive(key: string): void {
    const count = this.#counts.get(key);
    if (!count) return;
    count.failures = [];
    this.#dropEmpty([{ key, count }]);
  }

  /** What was refused before it was checked costs a flood nothing, and must not take the place of failures. */
  #dropEmpty(counted: readonly { readonly key: string; readonly count: Count }[]): void {
    for (const { key, count } of counted)
      if (count.underWay + count.failures.length === 0 && this.#counts.get(key) === count)
        this.#counts.delete(key);
  }

  /** Lifts every block. */
  async forget(): Promise<void> {
    this.#counts.clear();
    this.#blocks.clear();
    await this.#store.clear();
  }

  #fail(key: string, most: number, count: Count): void {
    const now = this.#clock.now();
    count.failures.push(now);
    if (count.failures.length < most) return;
    count.failures = [];
    const blockedUntil = now + BLOCK_MS;
    this.#blocks.delete(key);
    this.#blocks.set(key, blockedUntil);
    this.#store.add(key, blockedUntil);
    this.#dropOldBlocks();
  }

  #count(key: string): Count {
    const now = this.#clock.now();
    const count = this.#counts.get(key) ?? { failures: [], underWay: 0 };
    count.failures = count.failures.filter((at) => at > now - WINDOW_MS);
    this.#counts.delete(key);
    this.#counts.set(key, count);
    this.#forgetOldest();
    return count;
  }

  /** A flood of names or addresses must not fill the memory. Checks under way keep their count. */
  #forgetOldest(): void {
    for (const [key, { underWay }] of this.#counts) {
      if (this.#counts.size <= MOST_COUNTS) return;
      if (underWay === 0) this.#counts.delete(key);
    }
  }

  #dropOldBlocks(): void {
    const now = this.#clock.now();
    for (const [key, until] of this.#blocks) {
      if (until > now && this.#blocks.size <= MOST_BLOCKS) return;
      this.#blocks.delete(key);
    }
  }
}
