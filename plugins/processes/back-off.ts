// Delays between retries of a failed start: short at first, then longer.

export interface BackOffTimes {
  /** ms before the first retry; it doubles with each failure; default 1,000 */
  readonly first?: number | undefined;
  /** longest delay in ms; default 30,000 */
  readonly last?: number | undefined;
  /** after a process ran for more than this many ms, delays begin with `first` again; default 60,000 */
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

  /** Plans the next attempt, and cancels a planned one; returns the delay in ms. */
  later(): number {
    clearTimeout(this.#timer);
    const delay = this.#delay;
    this.#timer = setTimeout(this.#attempt, delay);
    this.#delay = Math.min(this.#times.last, delay * 2);
    return delay;
  }

  /** Cancels the planned attempt; the next failure waits for the first delay. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#delay = this.#times.first;
  }

  /** Records how many ms a process ran before it exited. */
  lived(ms: number): void {
    if (ms > this.#times.healthy) this.#delay = this.#times.first;
  }
}
