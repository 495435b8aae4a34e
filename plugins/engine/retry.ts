// A start that failed is tried again: soon, then less and less often.
const FIRST_MS = 1_000;
const LAST_MS = 30_000;
/** A core that lived this long earns a fresh beginning. */
const HEALTHY_MS = 60_000;

export class Retry {
  readonly #attempt: () => void;
  #delay = FIRST_MS;
  #timer: NodeJS.Timeout | undefined;

  constructor(attempt: () => void) {
    this.#attempt = attempt;
  }

  later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#attempt, this.#delay);
    this.#delay = Math.min(LAST_MS, this.#delay * 2);
  }

  /** Nothing is tried any more; who begins anew by hand begins with the first delay. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#delay = FIRST_MS;
  }

  lived(ms: number): void {
    if (ms > HEALTHY_MS) this.#delay = FIRST_MS;
  }
}
