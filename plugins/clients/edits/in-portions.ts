// Calls that name no clients concern as many as there are. They write portion by portion: one transaction of 100,000
// clients takes a gigabyte and makes every other write wait. A failure leaves the portions before it; the same call
// again goes on from there.
import { TimeSlice } from '../../../kernel/index.js';
import { type Applied, DONE } from '../../engine/contract.js';
import type { ClientRow } from '../model/row.js';

/** Clients of one transaction. */
const PORTION = 1000;

/** Those who wait for such calls, of which one runs at a time: each portion tells all of them. */
export class Progress {
  readonly #listeners = new Set<() => void>();

  async during<T>(listener: () => void, work: () => Promise<T>): Promise<T> {
    // Two callers may pass the same function.
    const own = (): void => listener();
    this.#listeners.add(own);
    try {
      return await work();
    } finally {
      this.#listeners.delete(own);
    }
  }
  report(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** `planOf` says what to write of a client, or nothing; it is asked when the turn of its portion comes. */
export async function writeInPortions<P>(
  all: readonly ClientRow[],
  planOf: (row: ClientRow) => P | undefined,
  write: (portion: readonly P[]) => Promise<Applied>,
  progress: Progress,
): Promise<Applied> {
  const slice = new TimeSlice();
  let applied = DONE;
  let portion: P[] = [];
  const flush = async (): Promise<void> => {
    const written = await write(portion);
    progress.report();
    if (written.pending) applied = written;
    portion = [];
  };
  // A copy: clients come and go meanwhile.
  for (const row of all.slice()) {
    if (slice.isOver) await slice.next();
    const planned = planOf(row);
    if (planned !== undefined) portion.push(planned);
    if (portion.length === PORTION) await flush();
  }
  if (portion.length > 0) await flush();
  return applied;
}
