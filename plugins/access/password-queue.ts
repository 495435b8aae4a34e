// Limits the password checks that run at once: each takes 19 MiB and a thread that the database needs as well. Callers
// that have logged in before go first, and strangers never take all places.
import { errors } from './errors.js';

const MOST_AT_ONCE = 4;
const MOST_STRANGERS_AT_ONCE = 2;
/** Beyond this many, strangers are refused: they would wait too long. */
const MOST_STRANGERS_WAITING = 32;

export class PasswordQueue {
  #running = 0;
  #strangersRunning = 0;
  readonly #known: (() => void)[] = [];
  readonly #strangers: (() => void)[] = [];

  /** Runs the work when it is its turn. Throws TOO_MANY_LOGINS when too many strangers wait. */
  async run<T>(work: () => Promise<T>, { isStranger }: { readonly isStranger: boolean }): Promise<T> {
    if (isStranger && this.#strangers.length >= MOST_STRANGERS_WAITING)
      throw errors.TOO_MANY_LOGINS('too many logins are being checked; try again', {
        headers: { 'Retry-After': '1' },
      });
    await new Promise<void>((resolve) => {
      (isStranger ? this.#strangers : this.#known).push(resolve);
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#running--;
      if (isStranger) this.#strangersRunning--;
      this.#next();
    }
  }

  #next(): void {
    if (this.#running >= MOST_AT_ONCE) return;
    const known = this.#known.shift();
    const stranger =
      known === undefined && this.#strangersRunning < MOST_STRANGERS_AT_ONCE
        ? this.#strangers.shift()
        : undefined;
    const turn = known ?? stranger;
    if (!turn) return;
    this.#running++;
    if (stranger) this.#strangersRunning++;
    turn();
  }
}
