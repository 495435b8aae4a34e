// When lists are fetched again. A server that fails is asked less and less often.
import type { Clock } from '../../kernel/index.js';
import { ListProblem } from './list-problem.js';
import type { Refresher } from './refresher.js';
import type { Sub, SubStore } from './sub-store.js';

const MOST_DOUBLINGS = 8;
const LONGEST_WAIT_MS = 6 * 3_600_000;
const AT_ONCE = 4;

/** ms between two tries. */
export function waitOf({ updateInterval, failures }: Pick<Sub, 'updateInterval' | 'failures'>): number {
  const usual = updateInterval * 1000;
  return Math.min(usual * 2 ** Math.min(failures, MOST_DOUBLINGS), Math.max(usual, LONGEST_WAIT_MS));
}

export class Schedule {
  readonly #clock: Clock;
  readonly #store: SubStore;
  readonly #refresher: Refresher;

  constructor({ clock, store, refresher }: { clock: Clock; store: SubStore; refresher: Refresher }) {
    this.#clock = clock;
    this.#store = store;
    this.#refresher = refresher;
  }

  /** Refreshes what is due, the longest untried first. */
  async run(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const due = this.#store
      .list()
      // A clock that was set back makes everything due.
      .filter((sub) => sub.enabled && Math.abs(now - sub.triedAt) >= waitOf(sub))
      .sort((a, b) => a.triedAt - b.triedAt);
    const next = due.values();
    const work = async (): Promise<void> => {
      for (const { id } of next) {
        if (signal.aborted) return;
        await this.#refresh(id, signal);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #refresh(id: number, signal: AbortSignal): Promise<void> {
    // Somebody may have deleted it.
    if (!this.#store.list().some((sub) => sub.id === id)) return;
    try {
      await this.#refresher.refresh(id, 'schedule', signal);
    } catch (error) {
      // `lastError` has the reason, unless the subscription was deleted meanwhile.
      const isThere = this.#store.list().some((sub) => sub.id === id);
      if (isThere && !signal.aborted && !(error instanceof ListProblem)) throw error;
    }
  }
}
