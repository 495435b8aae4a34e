// Copies the rows of known tables and columns into a database that our own migrations have made.
import type { Row, Value } from './sqlite-file.js';
import type { TableShape } from './table-shape.js';

/** A database whose rows are read, all of one moment. */
export interface RowSource {
  tables(): Promise<readonly TableShape[]>;
  /** Yields the rows of a table that both sides have. Rejects for rows that no panel writes. */
  slices(table: TableShape): AsyncIterable<readonly Row[]>;
  count(table: string): Promise<number>;
  /** The last id that was given, by table. */
  lastIds(): Promise<ReadonlyMap<string, unknown>>;
}
/** A database of its own, which is thrown away if anything fails. */
export interface RowTarget {
  tables(): Promise<readonly TableShape[]>;
  begin(): Promise<void>;
  clear(table: string): Promise<void>;
  insert(table: TableShape, rows: readonly Row[]): Promise<void>;
  setLastId(table: string, id: number): Promise<void>;
  /** Rejects where a row refers to none. */
  finish(): Promise<void>;
}

/** Belongs to the running panel, not to its data. Sessions end with a restore. */
const NOT_COPIED = new Set(['kernel_sessions', 'kernel_holder', 'kernel_presence', 'kernel_migration_steps']);

export interface Copied {
  readonly rows: Readonly<Record<string, number>>;
  /** tables and columns of the source that the target does not have */
  readonly leftOut: readonly string[];
}

/** Whether a column of this type takes a value as it is. SQLite itself would take anything. */
function takes(type: string, value: Value): boolean {
  if (value === null) return true;
  if (/INT/i.test(type)) return Number.isFinite(value);
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

/** Rejects where the table of the source is not the one that the same migrations make. */
function checkShape(target: TableShape, source: TableShape | undefined): asserts source is TableShape {
  if (!source) throw new Error(`its table ${target.name} is missing`);
  const missing = target.columns.find(({ name }) => !source.columns.some((column) => column.name === name));
  if (missing) throw new Error(`the column ${target.name}.${missing.name} is missing, or is computed`);
  if (!source.order || !target.order) return;
  if (target.order.hasRowId !== source.order.hasRowId || target.order.key.join() !== source.order.key.join())
    throw new Error(`its table ${target.name} has another primary key`);
}

async function copyLastIds(
  source: RowSource,
  target: RowTarget,
  tables: readonly TableShape[],
): Promise<void> {
  const known = new Set(tables.map(({ name }) => name));
  for (const [name, id] of await source.lastIds()) {
    if (!known.has(name)) continue;
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0)
      throw new Error(`the last id of ${name} is not a number of a panel`);
    await target.setLastId(name, id);
  }
}

/** Copies all rows. Rejects with a sentence that names table and column. */
export async function copyRows(source: RowSource, target: RowTarget): Promise<Copied> {
  const theirs = new Map((await source.tables()).map((table) => [table.name, table]));
  const ours = await target.tables();
  const known = new Set([...ours.map(({ name }) => name), ...NOT_COPIED]);
  const leftOut = [...theirs.keys()].filter((name) => !known.has(name)).map((name) => `table ${name}`);
  const rows: Record<string, number> = {};
  const copied = ours.filter(({ name }) => !NOT_COPIED.has(name));
  await target.begin();
  // Migrations may insert rows, and a row of the source may have the same key.
  for (const { name } of [...copied].reverse()) await target.clear(name);
  for (const table of copied) {
    const found = theirs.get(table.name);
    checkShape(table, found);
    const own = new Set(table.columns.map(({ name }) => name));
    leftOut.push(
      ...found.columns.filter(({ name }) => !own.has(name)).map(({ name }) => `column ${table.name}.${name}`),
    );
    let count = 0;
    for await (const slice of source.slices({ ...table, order: found.order })) {
      for (const row of slice) checkRow(table, row);
      await target.insert(table, slice);
      count += slice.length;
    }
    const all = await source.count(table.name);
    if (all !== count) throw new Error(`only ${count} of ${all} rows of ${table.name} can be read`);
    rows[table.name] = count;
  }
  await copyLastIds(source, target, copied);
  await target.finish();
  return { rows, leftOut };
}
