// The rows of a SQLite file, as a source and as a target of a copy.
import type { RowSource, RowTarget } from './copy-rows.js';
import { quoted, type Row, type SqliteFile, type Value } from './sqlite-file.js';
import { type TableShape, tablesIn } from './table-shape.js';

/** A panel writes rows of at most a few MiB. */
const MOST_ROW_BYTES = 16 * 1024 * 1024;
const SLICE_BYTES = 8 * 1024 * 1024;
const SLICE_ROWS = 1_000;
/** SQLite binds at most 32,766 values. */
const MOST_VALUES = 30_000;
const MOST_TABLES = 10_000;

const hasSequences = async (file: SqliteFile): Promise<boolean> =>
  (await file.rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'")).length > 0;

export class SqliteSource implements RowSource {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  tables(): Promise<readonly TableShape[]> {
    return tablesIn(this.#file);
  }

  async count(table: string): Promise<number> {
    const [all] = await this.#file.rows<{ n: number }>(`SELECT count(*) AS n FROM ${quoted(table)}`);
    return all?.n ?? 0;
  }

  async lastIds(): Promise<ReadonlyMap<string, unknown>> {
    if (!(await hasSequences(this.#file))) return new Map();
    const rows = await this.#file.rows<{ name: string; seq: Value }>(
      `SELECT substr(name, 1, 200) AS name, seq FROM sqlite_sequence LIMIT ${MOST_TABLES}`,
    );
    return new Map(rows.map(({ name, seq }) => [name, seq]));
  }

  async #sliceSize({ name, columns }: TableShape): Promise<number> {
    const bytes = columns.map((column) => `coalesce(octet_length(${quoted(column.name)}), 0)`).join(' + ');
    const [largest] = await this.#file.rows<{ bytes: number | null }>(
      `SELECT max(${bytes}) AS bytes FROM ${quoted(name)}`,
    );
    const most = largest?.bytes ?? 0;
    if (most > MOST_ROW_BYTES)
      throw new Error(`a row of ${name} has ${most} bytes, and a panel writes at most ${MOST_ROW_BYTES}`);
    return Math.max(1, Math.min(SLICE_ROWS, Math.floor(SLICE_BYTES / Math.max(1, most))));
  }

  async *slices(table: TableShape): AsyncGenerator<readonly Row[]> {
    const { name, columns, order: { key, hasRowId } = { key: [], hasRowId: true } } = table;
    const size = await this.#sliceSize(table);
    const list = columns.map((column) => quoted(column.name)).join(', ');
    const order = hasRowId ? 'rowid' : key.map(quoted).join(', ');
    const marks = hasRowId ? '?' : key.map(() => '?').join(', ');
    for (let last: Value[] | undefined; ; ) {
      const rows = await this.#file.rows<Row>(
        `SELECT ${hasRowId ? 'rowid AS "weir rowid", ' : ''}${list} FROM ${quoted(name)}
         ${last ? `WHERE (${order}) > (${marks})` : ''} ORDER BY ${order} LIMIT ${size}`,
        last ?? [],
      );
      const end = rows.at(-1);
      if (!end) return;
      yield rows;
      // A number of a row that JavaScript rounds would be asked for again and again.
      if (hasRowId && !Number.isSafeInteger(end['weir rowid']))
        throw new Error(`a row of ${name} has the row id ${end['weir rowid']}, which no panel writes`);
      last = hasRowId ? [end['weir rowid'] as Value] : key.map((column) => end[column] as Value);
    }
  }
}

export class SqliteTarget implements RowTarget {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  tables(): Promise<readonly TableShape[]> {
    return tablesIn(this.#file);
  }

  begin(): Promise<void> {
    return this.#file.execute('PRAGMA foreign_keys=OFF; PRAGMA synchronous=OFF; BEGIN IMMEDIATE');
  }

  clear(table: string): Promise<void> {
    return this.#file.execute(`DELETE FROM ${quoted(table)}`);
  }

  async insert({ name, columns }: TableShape, rows: readonly Row[]): Promise<void> {
    const list = columns.map((column) => quoted(column.name)).join(', ');
    const tuple = `(${columns.map(() => '?').join(', ')})`;
    const most = Math.floor(MOST_VALUES / columns.length);
    for (let from = 0; from < rows.length; from += most) {
      const some = rows.slice(from, from + most);
      await this.#file.run(
        `INSERT INTO ${quoted(name)} (${list}) VALUES ${some.map(() => tuple).join(', ')}`,
        some.flatMap((row) => columns.map((column) => row[column.name] ?? null)),
      );
    }
  }

  /** Only where SQLite counts ids itself. */
  async setLastId(table: string, id: number): Promise<void> {
    if (!(await hasSequences(this.#file))) return;
    const counts = await this.#file.rows(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE '%AUTOINCREMENT%'",
      [table],
    );
    if (counts.length === 0) return;
    await this.#file.run('DELETE FROM sqlite_sequence WHERE name = ?', [table]);
    await this.#file.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [table, id]);
  }

  async finish(): Promise<void> {
    const orphans = await this.#file.rows<{ table: string; rowid: number; parent: string }>(
      'SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT 3',
    );
    if (orphans.length > 0)
      throw new Error(
        orphans.map((row) => `row ${row.rowid} of ${row.table} refers to no row of ${row.parent}`).join('; '),
      );
    await this.#file.execute('COMMIT');
  }
}
