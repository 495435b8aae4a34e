// A start that failed is tried again: soon, then less and less often.

export interface BackOffTimes {
  /** ms before the first new attempt; it doubles with each failure; 1,000 unless told */
  readonly first?: number | undefined;
  /** ms that are never exceeded; 30,000 unless told */
  readonly last?: number | undefined;
  /** a process that ran for more than this many ms begins with `first` again; 60,000 unless told */
  readonly healthy?: number | undefined;
}

export class BackOff {
  readonly #attempt: () => void;
  readonly #times: Required<{ [K in keyof BackOffTimes]: number }>;
  #delay: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(attempt: () => void, { first = 1_000, last = 30_000, healthy = 60_000 }: BackOffTimes = {}) {
    this.#attempt = attempt;
    this.#times = { first, last, healthy };
    this.#delay = first;
  }

  /** Plans the next attempt, in place of one that is planned already; returns in how many ms it comes. */
  later(): number {
    clearTimeout(this.#timer);
    const delay = this.#delay;
    this.#timer = setTimeout(this.#attempt, delay);
    this.#delay = Math.min(this.#times.last, delay * 2);
    return delay;
  }

  /** Nothing is tried any more; the next failure waits for the first delay. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#delay = this.#times.first;
  }

  /** Tells how many ms a process ran before it ended. */
  lived(ms: number): void {
    if (ms > this.#times.healthy) this.#delay = this.#times.first;
  }
}
