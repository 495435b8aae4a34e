// Names of drivers that may have made something on this machine.
import type { Database } from '../../kernel/index.js';
import { repeatedWrite } from '../cluster/contract.js';
import type { BanTables } from './tables.js';

export class DriverMarks {
  readonly #db: Database;
  readonly #rows: BanTables['drivers'];
  readonly #names = new Set<string>();

  constructor({ db, tables }: { db: Database; tables: BanTables }) {
    this.#db = db;
    this.#rows = tables.drivers;
  }

  async load(): Promise<void> {
    for (const row of await this.#rows.findAll()) this.#names.add(row.get().name);
  }
  get names(): readonly string[] {
    return [...this.#names];
  }
  async add(name: string): Promise<void> {
    if (this.#names.has(name)) return;
    // Another panel of the same database may have used it on its machine.
    await repeatedWrite(this.#db, (tx) =>
      this.#rows.bulkCreate([{ name }], { transaction: tx.t, ignoreDuplicates: true }),
    );
    this.#names.add(name);
  }
  async remove(name: string): Promise<void> {
    await repeatedWrite(this.#db, (tx) => this.#rows.destroy({ where: { name }, transaction: tx.t }));
    this.#names.delete(name);
  }
}
