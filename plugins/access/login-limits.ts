// Counts failures per source and blocks a source that fails too often. A source is an address, a network, a device, or an
// address with one user name. Running checks count too, so that many at once gain nothing.
import { hash } from 'node:crypto';
import type { Clock } from '../../kernel/index.js';
import type { BlockStore } from './block-store.js';
import type { SharedFailures, ToldFailure } from './shared-failures.js';

const WINDOW_MS = 5 * 60_000;
export const BLOCK_MS = 15 * 60_000;
/** How soon a caller may retry while other checks are running. */
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
/** Reports the outcome of an admitted check; call it once. Of several panels, it resolves when the others can know a failure; until then the check counts as running. */
export type Finish = (outcome: Outcome) => Promise<void> | undefined;

/** A digest: its size is fixed, and no user name is stored, because people also type passwords into that field. */
const keyOf = (source: string): string => hash('sha256', source);

export class LoginLimits {
  readonly #clock: Clock;
  readonly #store: BlockStore;
  readonly #shared: SharedFailures | undefined;
  /** by key, in the order of last use */
  readonly #counts = new Map<string, Count>();
  /** Until when (Unix ms), by key. All blocks last equally long, so the first one ends first. */
  readonly #blocks = new Map<string, number>();

  constructor({
    clock,
    blocks,
    shared,
  }: { clock: Clock; blocks: BlockStore; shared?: SharedFailures | undefined }) {
    this.#clock = clock;
    this.#store = blocks;
    this.#shared = shared;
    shared?.onTold((told) => this.#follow(told));
    blocks.onWritten = (written) => {
      for (const [key, until] of written) {
        if ((this.#blocks.get(key) ?? 0) >= until) continue;
        this.#blocks.delete(key);
        this.#blocks.set(key, until);
      }
      this.#dropOldBlocks();
    };
    blocks.onCleared = () => {
      this.#counts.clear();
      this.#blocks.clear();
    };
  }

  /** Loads the blocks of the previous run. */
  async load(): Promise<void> {
    const now = this.#clock.now();
    // A clock that was wrong then must not block for years.
    for (const { source, blockedUntil } of await this.#store.load())
      if (blockedUntil > now) this.#blocks.set(source, Math.min(blockedUntil, now + BLOCK_MS));
  }

  /** Stores the blocks since the previous call. */
  flush(): Promise<void> {
    this.#dropOldBlocks();
    return this.#store.flush(this.#blocks.values().next().value ?? Number.MAX_SAFE_INTEGER);
  }

  /** Returns how many ms the longest block of these sources still lasts; 0 if none is blocked. */
  blockedFor(sources: readonly string[]): number {
    const now = this.#clock.now();
    return Math.max(0, ...sources.map((source) => (this.#blocks.get(keyOf(source)) ?? 0) - now));
  }

  /** Admits a check, or returns how many ms to wait. A source whose limit is used up by running checks is not blocked yet. The outcome also counts for the sources of `also`, whose limits are not checked. */
  admit(limits: readonly Limit[], also: readonly Limit[] = []): Finish | { readonly waitMs: number } {
    const blocked = this.blockedFor(limits.map(({ source }) => source));
    if (blocked > 0) return { waitMs: blocked };
    const counted = limits.map(({ source, most }) => {
      const key = keyOf(source);
      return { key, most, count: this.#count(key) };
    });
    if (counted.some(({ count, most }) => !this.#hasRoom(count, most))) {
      this.#dropEmpty(counted);
      return { waitMs: SOON_MS };
    }
    for (const { count } of counted) count.underWay++;
    return (outcome) => {
      const told = outcome === 'failed' ? this.#failed(counted, also) : undefined;
      const forgiven = outcome === 'succeeded' ? this.#forgiveNarrowest(counted, also) : [];
      const over = (): void => {
        for (const { count } of counted) count.underWay--;
        this.#dropEmpty(counted);
      };
      const telling = told || forgiven.length > 0 ? this.#shared?.tell(told ?? { forgiven }) : undefined;
      if (!telling) return void over();
      return telling.then(over);
    };
  }

  /** Whether one of these sources has failed lately, or is being checked. */
  hasCounted(sources: readonly string[]): boolean {
    return sources.some((source) => this.#counts.has(keyOf(source)));
  }

  /** Resolves when what other panels have counted is counted here; undefined where there are none. */
  catchUp(): Promise<void> | undefined {
    return this.#shared?.catchUp();
  }

  #hasRoom({ failures, underWay }: Count, most: number): boolean {
    const left = most - failures.length;
    return this.#shared ? this.#shared.hasRoom(left, underWay) : underWay < left;
  }

  #failed(
    counted: readonly { readonly key: string; readonly most: number; readonly count: Count }[],
    also: readonly Limit[],
  ): ToldFailure {
    const others = also.map(({ source, most }) => {
      const key = keyOf(source);
      return { key, most, count: this.#count(key) };
    });
    const all = [...counted, ...others];
    for (const { key, most, count } of all) this.#fail(key, most, count);
    return { failed: all.map(({ key, most }) => [key, most] as const) };
  }

  /** One success says nothing about the other names and addresses that the wider sources count. Returns the keys that had failures. */
  #forgiveNarrowest(counted: readonly { readonly key: string }[], also: readonly Limit[]): string[] {
    const narrowest = counted.at(-1);
    const alsoNarrowest = also.at(-1);
    const keys = [
      ...(narrowest ? [narrowest.key] : []),
      ...(alsoNarrowest ? [keyOf(alsoNarrowest.source)] : []),
    ];
    return keys.filter((key) => this.#forgive(key));
  }

  /** Takes what another panel has counted. */
  #follow({ failed = [], forgiven = [] }: ToldFailure): void {
    for (const [key, most] of failed) this.#fail(key, most, this.#count(key));
    for (const key of forgiven) this.#forgive(key);
  }

  /** Returns whether there was something to forget. */
  #forgive(key: string): boolean {
    const count = this.#counts.get(key);
    if (!count || count.failures.length === 0) return false;
    count.failures = [];
    this.#dropEmpty([{ key, count }]);
    return true;
  }

  /** Refused attempts cost a flood nothing, so they must not displace counted failures. */
  #dropEmpty(counted: readonly { readonly key: string; readonly count: Count }[]): void {
    for (const { key, count } of counted)
      if (count.underWay + count.failures.length === 0 && this.#counts.get(key) === count)
        this.#counts.delete(key);
  }

  /** Clears every block. */
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

  /** A flood of names or addresses must not fill the memory. Running checks keep their count. */
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
