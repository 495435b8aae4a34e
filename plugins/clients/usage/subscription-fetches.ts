// When clients last fetched their subscription: in memory at once, in the database with the next flush.
import type { Database, Tx } from '../../../kernel/index.js';
import type { ClientRow } from '../model/row.js';
import { type Fetch, saveFetches } from './counters.js';

export class SubscriptionFetches {
  readonly #db: Database;
  readonly #change: (tx: Tx, fetches: readonly Fetch[]) => void;
  /** Clients that fetched since the last write, each once: their rows know when. */
  #fetched: ClientRow[] = [];
  #firstFetch = 0;

  /** `change` brings fetches into memory with the commit. */
  constructor(db: Database, change: (tx: Tx, fetches: readonly Fetch[]) => void) {
    this.#db = db;
    this.#change = change;
  }

  /** Called for every fetch of a subscription: one list entry for the first fetch of a client since the last write. */
  record(row: ClientRow, at: number): void {
    if (this.#fetched.length === 0) this.#firstFetch = at;
    if (row.lastSubFetch < this.#firstFetch) this.#fetched.push(row);
    if (at > row.lastSubFetch) row.lastSubFetch = at;
  }

  /** Writes all fetches since the last call at once. If that fails, they are part of the next call. */
  async flush(): Promise<void> {
    const rows = this.#fetched;
    if (rows.length === 0) return;
    this.#fetched = [];
    const fetches = rows.map(({ id, lastSubFetch }): Fetch => [id, lastSubFetch]);
    try {
      await this.#db.write(async (tx) => {
        await saveFetches(tx, fetches);
        // If the roster was loaded again meanwhile, it does not have them yet.
        this.#change(tx, fetches);
      });
    } catch (error) {
      this.#fetched = rows.concat(this.#fetched);
      throw error;
    }
  }
}
