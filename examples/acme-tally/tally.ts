import type { Clock, Database } from '@weir-panel/weir/kernel';
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

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export class Tally {
  readonly #db: Database;
  readonly #days: Tables['days'];
  readonly #clock: Clock;
  readonly #keepDays: number;

  constructor({ db, tables, clock, config }: Needs) {
    this.#db = db;
    this.#days = tables.days;
    this.#clock = clock;
    this.#keepDays = config.keepDays;
  }

  async count(clients: number): Promise<void> {
    const day = dayOf(this.#clock.now());
    await this.#db.write(async ({ t: transaction }) => {
      const row = await this.#days.findByPk(day, { transaction });
      await this.#days.upsert({ day, depleted: (row?.get().depleted ?? 0) + clients }, { transaction });
    });
  }

  async last(days: number): Promise<Day[]> {
    const rows = await this.#days.findAll({ order: [['day', 'DESC']], limit: days });
    return rows.map((row) => row.get());
  }

  /** Deletes days that are older than the setting allows. */
  async prune(): Promise<void> {
    const oldest = dayOf(this.#clock.now() - this.#keepDays * 86_400_000);
    await this.#db.write((tx) => tx.run('DELETE FROM x_acme_tally_days WHERE day < :oldest', { oldest }));
  }
}
