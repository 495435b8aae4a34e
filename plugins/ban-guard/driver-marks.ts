// Names of drivers that may have made something on this machine. The rows of several panels are common to their machines: one
// that is away while a driver is switched off clears it at its start, so rows of theirs stay.
import type { Database } from '../../kernel/index.js';
import { type PanelsApi, repeatedWrite } from '../cluster/contract.js';
import type { BanTables } from './tables.js';

export class DriverMarks {
  readonly #db: Database;
  readonly #rows: BanTables['drivers'];
  readonly #isOneOfSeveral: boolean;
  readonly #names = new Set<string>();

  constructor({
    db,
    tables,
    panels,
  }: { db: Database; tables: BanTables; panels?: Pick<PanelsApi, 'name'> | undefined }) {
    this.#db = db;
    this.#rows = tables.drivers;
    this.#isOneOfSeveral = (panels?.name ?? '') !== '';
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
    if (!this.#isOneOfSeveral)
      await repeatedWrite(this.#db, (tx) => this.#rows.destroy({ where: { name }, transaction: tx.t }));
    this.#names.delete(name);
  }
}
