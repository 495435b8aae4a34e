import type { Clock, Database, Projection } from '@weir-panel/weir/kernel';
import type { Tables } from './tables.js';

interface Needs {
  readonly db: Database;
  readonly tables: Tables;
  readonly clock: Clock;
  readonly config: { readonly keepDays: number };
}
export interface Day {
  readonly day: string;
  readonly depleted: number;
}
/** A day with its new count, or the day before which all others were deleted. */
type Change = Day | { readonly oldest: string };

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export class Tally {
  readonly #db: Database;
  readonly #days: Tables['days'];
  readonly #clock: Clock;
  readonly #keepDays: number;
  readonly #counts: Projection<Map<string, number>, Change>;

  constructor({ db, tables, clock, config }: Needs) {
    this.#db = db;
    this.#days = tables.days;
    this.#clock = clock;
    this.#keepDays = config.keepDays;
    this.#counts = db.projection<Map<string, number>, Change>({
      load: async () => {
        const rows = await this.#days.findAll();
        return new Map(rows.map((row) => [row.get().day, row.get().depleted]));
      },
      apply: (counts, change) => {
        if ('day' in change) counts.set(change.day, change.depleted);
        else for (const day of counts.keys()) if (day < change.oldest) counts.delete(day);
      },
    });
  }

  async count(clients: number): Promise<void> {
    const day = dayOf(this.#clock.now());
    await this.#db.write(async (tx) => {
      const row = await this.#days.findByPk(day, { transaction: tx.t });
      const depleted = (row?.get().depleted ?? 0) + clients;
      await this.#days.upsert({ day, depleted }, { transaction: tx.t });
      tx.apply(this.#counts, { day, depleted });
    });
  }

  /** Returns the newest days; the request costs no query. */
  last(days: number): Day[] {
    const counts = [...this.#counts.state].sort(([a], [b]) => (a < b ? 1 : -1));
    return counts.slice(0, days).map(([day, depleted]) => ({ day, depleted }));
  }

  /** Deletes days that are older than the setting allows. */
  async prune(): Promise<void> {
    const oldest = dayOf(this.#clock.now() - this.#keepDays * 86_400_000);
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM x_acme_tally_days WHERE day < :oldest', { oldest });
      tx.apply(this.#counts, { oldest });
    });
  }
}
