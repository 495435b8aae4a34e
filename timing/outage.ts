// Something that fails for a while: says once when that begins, and once when it is over.

export class Outage {
  readonly #quietMs: number;
  #failing: { readonly since: number; last: number } | undefined;

  /** It is over with the first success after `quietMs` without a failure: while it lasts, some attempts may succeed. */
  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  get isOn(): boolean {
    return this.#failing !== undefined;
  }

  /** Returns whether it begins. */
  failed(): boolean {
    const begins = !this.#failing;
    const last = performance.now();
    this.#failing = { since: this.#failing?.since ?? last, last };
    return begins;
  }

  /** Returns how long it took in ms, if it is over now. */
  worked(): number | undefined {
    const now = performance.now();
    if (!this.#failing || now - this.#failing.last < this.#quietMs) return undefined;
    const took = now - this.#failing.since;
    this.#failing = undefined;
    return took;
  }
}
