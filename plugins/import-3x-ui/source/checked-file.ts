// Checks a file before anything of it is read: its schema, its pages, and that it is a database of 3x-ui.
import { CLIENT_TABLES, REQUIRED, REQUIRED_COLUMNS, ROW_TABLES } from './known-tables.js';
import type { SqliteFile } from './sqlite-file.js';

const MOST_OBJECTS = 2_000;
const MOST_SQL = 4 * 1024 * 1024;

/** Columns that are there, by table; without generated ones, which would run an expression of the file. */
export type Columns = ReadonlyMap<string, ReadonlySet<string>>;

async function checkSchema(file: SqliteFile): Promise<void> {
  const [size] = await file.rows<{ objects: number; bytes: number }>(
    'SELECT count(*) AS objects, coalesce(sum(octet_length(sql)), 0) AS bytes FROM sqlite_master',
  );
  if (!size || size.objects > MOST_OBJECTS || size.bytes > MOST_SQL)
    throw new Error('its schema is larger than that of any version of 3x-ui');
  const known = [...Object.keys(ROW_TABLES), ...Object.keys(CLIENT_TABLES)];
  const [code] = await file.rows<{ type: string; name: string }>(
    `SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')
     UNION ALL SELECT 'virtual table', name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'
     UNION ALL SELECT 'generated column', m.name || '.' || c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c
       WHERE m.type = 'table' AND c.hidden > 1 AND m.name IN (${known.map((name) => `'${name}'`).join()})
     LIMIT 1`,
  );
  if (code)
    throw new Error(
      `it has the ${code.type} ${JSON.stringify(code.name.slice(0, 100))}, which no version of 3x-ui makes`,
    );
}

async function checkIntact(file: SqliteFile): Promise<void> {
  const found = await file.rows<{ integrity_check: string }>('PRAGMA integrity_check(3)');
  // A row that breaks a rule of its table is reported where it is read.
  const damage = found
    .map((row) => row.integrity_check)
    .filter(
      (line) =>
        line !== 'ok' &&
        !/^(?:NULL value in|CHECK constraint failed|non-\w+ value in|\w+ value in)/i.test(line),
    );
  if (damage.length > 0) throw new Error(`it is damaged: ${damage.join('; ').slice(0, 300)}`);
}

export async function checkedColumns(file: SqliteFile): Promise<Columns> {
  await checkSchema(file);
  await checkIntact(file);
  const columns = new Map<string, Set<string>>();
  const found = await file.rows<{ tableName: string; name: string; rowless: number }>(
    `SELECT t.name AS tableName, c.name AS name, t.wr AS rowless FROM pragma_table_list t, pragma_table_info(t.name) c
     WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  for (const { tableName, name, rowless } of found) {
    if (rowless === 1 && (tableName in ROW_TABLES || tableName in CLIENT_TABLES))
      throw new Error(`its table ${tableName} has no row ids, which no version of 3x-ui makes`);
    columns.set(tableName, (columns.get(tableName) ?? new Set()).add(name));
  }
  const missing = REQUIRED.filter((name) => !columns.has(name));
  if (missing.length > 0)
    throw new Error(
      columns.has('kernel_migrations')
        ? 'it is a database of this kind of panel; `weir restore` takes it'
        : `it is not a database of 3x-ui: it has no table ${missing.join(', ')}`,
    );
  for (const [name, required] of Object.entries(REQUIRED_COLUMNS)) {
    const own = columns.get(name);
    const lacking = own ? required.filter((column) => !own.has(column)) : [];
    if (lacking.length > 0)
      throw new Error(`its table ${name} has no column ${lacking.join(', ')}: this version is not known`);
  }
  return columns;
}
