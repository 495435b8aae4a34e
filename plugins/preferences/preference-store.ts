// The preferences of each admin, one row a name.
import type { Database, Tx } from '../../kernel/index.js';
import type { AdminChange } from '../access/contract.js';
import { errors } from './errors.js';
import type { PreferenceTables } from './tables.js';

const MOST_NAMES = 200;

export class PreferenceStore {
  readonly #db: Database;
  readonly #rows: PreferenceTables['values'];

  constructor({ db, tables: { values } }: { db: Database; tables: PreferenceTables }) {
    this.#db = db;
    this.#rows = values;
  }

  /** Values by name, in the order of the names. */
  async of(username: string): Promise<Readonly<Record<string, unknown>>> {
    const rows = await this.#rows.findAll({ where: { username }, order: [['name', 'ASC']] });
    return Object.fromEntries(rows.map((row) => [row.get().name, JSON.parse(row.get().value) as unknown]));
  }

  /** Sets these names and removes those with null; all of them or none. Rejects with TOO_MANY. */
  async change(username: string, changes: Readonly<Record<string, unknown>>): Promise<void> {
    const names = Object.keys(changes);
    const rows = Object.entries(changes)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => ({ username, name, value: JSON.stringify(value) }));
    await this.#db.write(async (tx) => {
      await this.#rows.destroy({ where: { username, name: names }, transaction: tx.t });
      await this.#rows.bulkCreate(rows, { transaction: tx.t });
      const count = await this.#rows.count({ where: { username }, transaction: tx.t });
      if (count > MOST_NAMES) throw errors.TOO_MANY();
    });
  }

  /** Preferences follow an admin to another name, and go with him. */
  async adminsSaved(changes: readonly AdminChange[], tx: Tx): Promise<void> {
    for (const { before, after } of changes) {
      if (!before || before.username === after?.username) continue;
      const from = { where: { username: before.username }, transaction: tx.t };
      if (after) await this.#rows.update({ username: after.username }, from);
      else await this.#rows.destroy(from);
    }
  }
}
