// Copies the rows of known tables and columns from a backup into a database that our own migrations have made.
import { quoted, type Row, type SqliteFile, type Value } from './sqlite-file.js';
import { type TableShape, tablesIn } from './table-shape.js';

/** A panel writes rows of at most a few MiB. */
const MOST_ROW_BYTES = 16 * 1024 * 1024;
const SLICE_BYTES = 8 * 1024 * 1024;
const SLICE_ROWS = 1_000;
/** SQLite binds at most 32,766 values. */
const MOST_VALUES = 30_000;

/** Belongs to the running panel, not to its data. Sessions end with a restore. */
const NOT_COPIED = new Set(['kernel_sessions', 'kernel_holder', 'kernel_migration_steps']);

export interface Copied {
  readonly rows: Readonly<Record<string, number>>;
  /** tables and columns of the backup that this release does not know */
  readonly leftOut: readonly string[];
}

/** Whether a column of this type takes a value as it is. SQLite itself would take anything. */
function takes(type: string, value: Value): boolean {
  if (value === null) return true;
  if (/INT/i.test(type)) return typeof value === 'number';
  if (/CHAR|TEXT|CLOB/i.test(type)) return typeof value === 'string';
  return true;
}

function checkRow(table: TableShape, row: Row): void {
  for (const { name, type } of table.columns) {
    const value = row[name] ?? null;
    if (!takes(type, value))
      throw new Error(`${table.name}.${name} holds a value that is not of its type ${type}`);
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new Error(`${table.name}.${name} holds the number ${value}, which no panel writes`);
  }
}

/** Rejects where the table of the backup is not the one that the same migrations make. */
function checkShape(target: TableShape, source: TableShape | undefined): asserts source is TableShape {
  if (!source) throw new Error(`its table ${target.name} is missing`);
  const missing = target.columns.find(({ name }) => !source.columns.some((column) => column.name === name));
  if (missing) throw new Error(`the column ${target.name}.${missing.name} is missing, or is computed`);
  if (target.hasRowId !== source.hasRowId || target.key.join() !== source.key.join())
    throw new Error(`its table ${target.name} has another primary key`);
}

async function sliceSize(source: SqliteFile, { name, columns }: TableShape): Promise<number> {
  const bytes = columns.map((column) => `coalesce(octet_length(${quoted(column.name)}), 0)`).join(' + ');
  const [largest] = await source.rows<{ bytes: number | null }>(
    `SELECT max(${bytes}) AS bytes FROM ${quoted(name)}`,
  );
  const most = largest?.bytes ?? 0;
  if (most > MOST_ROW_BYTES)
    throw new Error(`a row of ${name} has ${most} bytes, and a panel writes at most ${MOST_ROW_BYTES}`);
  const rows = Math.min(SLICE_ROWS, Math.floor(MOST_VALUES / columns.length));
  return Math.max(1, Math.min(rows, Math.floor(SLICE_BYTES / Math.max(1, most))));
}

async function copyTable(source: SqliteFile, target: SqliteFile, table: TableShape): Promise<number> {
  const { name, columns, key, hasRowId } = table;
  const size = await sliceSize(source, table);
  const list = columns.map((column) => quoted(column.name)).join(', ');
  const order = hasRowId ? 'rowid' : key.map(quoted).join(', ');
  const marks = hasRowId ? '?' : key.map(() => '?').join(', ');
  const tuple = `(${columns.map(() => '?').join(', ')})`;
  let copied = 0;
  let last: Value[] | undefined;
  for (;;) {
    const rows = await source.rows<Row>(
      `SELECT ${hasRowId ? 'rowid AS "weir rowid", ' : ''}${list} FROM ${quoted(name)}
       ${last ? `WHERE (${order}) > (${marks})` : ''} ORDER BY ${order} LIMIT ${size}`,
      last ?? [],
    );
    const end = rows.at(-1);
    if (!end) return copied;
    for (const row of rows) checkRow(table, row);
    await target.run(
      `INSERT INTO ${quoted(name)} (${list}) VALUES ${rows.map(() => tuple).join(', ')}`,
      rows.flatMap((row) => columns.map((column) => row[column.name] ?? null)),
    );
    copied += rows.length;
    last = hasRowId ? [end['weir rowid'] as Value] : key.map((column) => end[column] as Value);
  }
}

/** Ids that were given once are not given again. */
async function copySequences(source: SqliteFile, target: SqliteFile, tables: readonly TableShape[]) {
  const has = async (file: SqliteFile) =>
    (await file.rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'")).length > 0;
  if (!(await has(source)) || !(await has(target))) return;
  const known = new Set(tables.map(({ name }) => name));
  for (const { name, seq } of await source.rows<{ name: string; seq: Value }>(
    'SELECT substr(name, 1, 200) AS name, seq FROM sqlite_sequence LIMIT 10000',
  )) {
    if (!known.has(name)) continue;
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0)
      throw new Error(`the last id of ${name} is not a number of a panel`);
    await target.run('DELETE FROM sqlite_sequence WHERE name = ?', [name]);
    await target.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [name, seq]);
  }
}

/** Copies all rows in one transaction. Rejects with a sentence that names table and column. */
export async function copyRows(source: SqliteFile, target: SqliteFile): Promise<Copied> {
  const theirs = new Map((await tablesIn(source)).map((table) => [table.name, table]));
  const ours = await tablesIn(target);
  const known = new Set([...ours.map(({ name }) => name), ...NOT_COPIED]);
  const leftOut = [...theirs.keys()].filter((name) => !known.has(name)).map((name) => `table ${name}`);
  const rows: Record<string, number> = {};
  await target.execute('PRAGMA foreign_keys=OFF; PRAGMA synchronous=OFF; BEGIN IMMEDIATE');
  const copied = ours.filter(({ name }) => !NOT_COPIED.has(name));
  // Migrations may insert rows, and a row of the backup may have the same key.
  for (const { name } of [...copied].reverse()) await target.execute(`DELETE FROM ${quoted(name)}`);
  for (const table of copied) {
    const found = theirs.get(table.name);
    checkShape(table, found);
    const own = new Set(table.columns.map(({ name }) => name));
    leftOut.push(
      ...found.columns.filter(({ name }) => !own.has(name)).map(({ name }) => `column ${table.name}.${name}`),
    );
    const count = await copyTable(source, target, table);
    const [all] = await source.rows<{ n: number }>(`SELECT count(*) AS n FROM ${quoted(table.name)}`);
    if (all?.n !== count) throw new Error(`only ${count} of ${all?.n} rows of ${table.name} can be read`);
    rows[table.name] = count;
  }
  await copySequences(source, target, copied);
  const orphans = await target.rows<{ table: string; rowid: number; parent: string }>(
    'SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT 3',
  );
  if (orphans.length > 0)
    throw new Error(
      orphans.map((row) => `row ${row.rowid} of ${row.table} refers to no row of ${row.parent}`).join('; '),
    );
  await target.execute('COMMIT');
  return { rows, leftOut };
}
