// Restarts a program that reads its users when it starts: at the first change at once, and then at most every few seconds.
import type { Applied } from '../engine/contract.js';

const BETWEEN_MS = 5_000;

export class SpacedRestarts {
  readonly #restart: () => Promise<Applied>;
  #at = -Infinity;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;

  /** `restart` is called later as well, and must wait for its turn itself. */
  constructor(restart: () => Promise<Applied>) {
    this.#restart = restart;
  }

  /** Call it when a process begins. */
  began(): void {
    this.#at = performance.now();
  }
  /** Call it when the process has all users. */
  done(): void {
    this.#isDue = false;
  }
  close(): void {
    clearTimeout(this.#timer);
  }

  /** Users have changed. `now` restarts in the caller's turn. */
  ask(now: () => Promise<Applied>): Promise<Applied> | Applied {
    this.#isDue = true;
    const wait = this.#at + BETWEEN_MS - performance.now();
    if (wait <= 0) return now();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#restart();
    }, wait);
    return {
      pending: true,
      reason: `this program reads its users when it starts, and is restarted at most every ${BETWEEN_MS / 1000} s`,
    };
  }

  /** Whether users have changed since the process began. */
  get isDue(): boolean {
    return this.#isDue;
  }
}
