// The panel's own guid: nodes and other panels know this panel by it. Generated once; a row of its own, because it is no
// setting: no admin changes it, and no reset, export or copy of settings may.
import { randomUUID } from 'node:crypto';
import type { Database, TableModel } from '../../kernel/index.js';
import type { PanelIdentityApi } from './contract.js';
import type { tables } from './tables.js';

export class PanelIdentity implements PanelIdentityApi {
  readonly #db: Database;
  readonly #rows: TableModel<typeof tables.identity>;
  #guid: string | undefined;

  constructor({
    db,
    tables: { identity },
  }: { db: Database; tables: { identity: TableModel<typeof tables.identity> } }) {
    this.#db = db;
    this.#rows = identity;
  }

  get guid(): string {
    if (this.#guid === undefined)
      throw new Error('the guid of the panel is read before the start of settings');
    return this.#guid;
  }

  async start(): Promise<void> {
    const row = await this.#rows.findByPk('panel');
    const guid = row?.getDataValue('guid') ?? randomUUID();
    if (!row)
      await this.#db.write(async ({ t: transaction }) => {
        await this.#rows.create({ id: 'panel', guid }, { transaction });
      });
    this.#guid = guid;
  }
}
