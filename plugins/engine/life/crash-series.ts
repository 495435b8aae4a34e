// Failures of the core in a row: the first one tells more than those that follow it.
import type { Clock } from '../../../kernel/index.js';

/** ms without a failure after which the next one is the first again */
const HEALTHY_MS = 60_000;
const LONGEST_REASON = 1000;

export class CrashSeries {
  readonly #clock: Pick<Clock, 'now'>;
  #first = '';
  #firstAt = 0;
  #latest = '';
  #count = 0;
  /** Unix ms; undefined while no core runs */
  #runningSince: number | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Records an exit, or a start that failed. */
  failed(reason: string): void {
    if (this.#isOver) this.clear();
    this.#runningSince = undefined;
    this.#latest = reason.slice(0, LONGEST_REASON);
    this.#count += 1;
    if (this.#count > 1) return;
    this.#first = this.#latest;
    this.#firstAt = this.#clock.now();
  }

  /** A core runs now. */
  started(): void {
    this.#runningSince = this.#clock.now();
  }

  /** Somebody stopped the core, or starts it with another config. */
  clear(): void {
    this.#count = 0;
    this.#runningSince = undefined;
  }

  /** Whether it failed again after a restart, and has not lived for a minute since. */
  get isLoop(): boolean {
    return this.#count > 1 && !this.#isOver;
  }

  /** The first reason; of a loop also how often and since when, and the latest reason where it differs. */
  describe(): string {
    if (!this.isLoop) return this.#latest;
    const since = new Date(this.#firstAt).toISOString();
    const latest = this.#latest === this.#first ? '' : `; the latest: ${this.#latest}`;
    return `${this.#first} (the first of ${this.#count} failures in a row since ${since}${latest})`;
  }

  get #isOver(): boolean {
    return this.#runningSince !== undefined && this.#clock.now() - this.#runningSince >= HEALTHY_MS;
  }
}
