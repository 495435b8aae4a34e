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
  #salt = '';

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

  /** Nobody outside knows it: a digest with it says nothing of what it is of. */
  get salt(): string {
    return this.#salt;
  }

  async start(): Promise<void> {
    this.#guid = await this.#stored('panel');
    this.#salt = await this.#stored('salt');
  }

  async #stored(id: 'panel' | 'salt'): Promise<string> {
    const row = await this.#rows.findByPk(id);
    if (row) return row.getDataValue('guid');
    const guid = randomUUID();
    await this.#db.write(async ({ t: transaction }) => {
      await this.#rows.create({ id, guid }, { transaction });
    });
    return guid;
  }
}
