// Looks up names, a few at once. Node itself runs only two look-ups at once, and none can be cancelled: those of many names
// whose servers are silent would go on for minutes after their calls are over, and hold up all that come later.
import type { Resolve } from './address-guard.js';

/** As many as Node runs at once with its usual four threads. */
const AT_ONCE = 2;

export class Lookups {
  readonly #resolve: Resolve;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** A look-up whose signal aborts before its turn is not made. */
  readonly resolve: Resolve = (name, options, done, signal) => {
    const start = (): void => {
      signal?.removeEventListener('abort', drop);
      try {
        this.#resolve(name, options, (error, addresses) => {
          this.#next();
          done(error, addresses);
        });
      } catch (error) {
        this.#next();
        done(error as Error, []);
      }
    };
    const drop = (): void => {
      this.#waiting.delete(start);
      done(signal?.reason as Error, []);
    };
    if (this.#running < AT_ONCE) {
      this.#running++;
      start();
      return;
    }
    this.#waiting.add(start);
    signal?.addEventListener('abort', drop, { once: true });
  };

  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
