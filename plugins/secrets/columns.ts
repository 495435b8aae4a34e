// The columns that hold sealed text, also those of disabled plugins.
import type { Contributed, Database, Tx } from '../../kernel/index.js';
import type { SealedColumn } from './contract.js';
import { PREFIX } from './sealed-text.js';
import type { SecretsTables } from './tables.js';

export interface OwnedColumn extends SealedColumn {
  readonly plugin: string;
}
export interface SealedRow {
  readonly key: string | number;
  readonly value: string;
}
interface StoredColumn {
  readonly plugin: string;
  readonly tableName: string;
  readonly keyColumn: string;
  readonly valueColumn: string;
}

/** The table of a purged plugin is gone, and a release may have renamed a column. */
const isGone = (error: unknown): boolean =>
  /no such (?:table|column)|ER_NO_SUCH_TABLE|ER_BAD_FIELD_ERROR|doesn't exist|Unknown column/i.test(
    String(error),
  );

export class Columns {
  readonly #db: Database;
  readonly #rows: SecretsTables['columns'];

  constructor({ db, tables: { columns } }: { db: Database; tables: Pick<SecretsTables, 'columns'> }) {
    this.#db = db;
    this.#rows = columns;
  }

  /** Stores new columns. */
  async remember(now: readonly Contributed<SealedColumn>[]): Promise<void> {
    const known = new Set((await this.all()).map((owned) => JSON.stringify(owned)));
    const fresh = now
      .map(({ plugin, value: { table, key, column } }): OwnedColumn => ({ plugin, table, key, column }))
      .filter((owned) => !known.has(JSON.stringify(owned)));
    if (fresh.length === 0) return;
    const rows = fresh.map(({ plugin, table, key, column }) => ({
      id: `${table}.${column}`,
      plugin,
      tableName: table,
      keyColumn: key,
      valueColumn: column,
    }));
    await this.#db.write(({ t: transaction }) =>
      this.#rows.bulkCreate(rows, {
        updateOnDuplicate: ['plugin', 'tableName', 'keyColumn', 'valueColumn'],
        transaction,
      }),
    );
  }

  async all(): Promise<OwnedColumn[]> {
    const rows = (await this.#rows.findAll({ raw: true, order: ['id'] })) as unknown as StoredColumn[];
    return rows.map(({ plugin, tableName, keyColumn, valueColumn }) => ({
      plugin,
      table: tableName,
      key: keyColumn,
      column: valueColumn,
    }));
  }

  /** Returns sealed rows, within `tx` if it is given; with `id` only those sealed with this key. */
  async sealed(
    { table, key, column }: OwnedColumn,
    { tx, id = '' }: { tx?: Tx; id?: string } = {},
  ): Promise<SealedRow[]> {
    const sql = `SELECT "${key}" AS "key", "${column}" AS "value" FROM "${table}" WHERE "${column}" LIKE :form`;
    try {
      return await (tx ?? this.#db).query<SealedRow>(sql, { form: `${PREFIX}${id}%` });
    } catch (error) {
      if (isGone(error)) return [];
      throw error;
    }
  }

  /** Skips a row that has changed meanwhile. */
  async replace(tx: Tx, { table, key, column }: OwnedColumn, row: SealedRow, value: string): Promise<void> {
    await tx.run(`UPDATE "${table}" SET "${column}" = :value WHERE "${key}" = :key AND "${column}" = :old`, {
      value,
      key: row.key,
      old: row.value,
    });
  }

  /** Counts the values of each column that are sealed with this key; columns without any are left out. */
  async usesOf(id: string): Promise<{ readonly name: string; readonly count: number }[]> {
    const counted = [];
    for (const owned of await this.all()) {
      const { length: count } = await this.sealed(owned, { id: `${id}:` });
      if (count > 0) counted.push({ name: `${owned.table}.${owned.column}`, count });
    }
    return counted;
  }
}
