// How many lists are fetched and read at once: each is in memory until it is read, and callers may ask for any number.
import { ListProblem } from './list-problem.js';

const AT_ONCE = 4;
const MOST_WAITING = 50;

export class Places {
  #free = AT_ONCE;
  readonly #waiting: (() => void)[] = [];

  /** Runs the work when there is room for it. Rejects with a ListProblem when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length < MOST_WAITING) await new Promise<void>((go) => this.#waiting.push(go));
    else throw new ListProblem('too many lists are fetched now; try again later');
    try {
      return await work();
    } finally {
      // The place goes directly to the one that waits longest.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
