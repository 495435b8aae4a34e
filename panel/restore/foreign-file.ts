// A file that is said to be a backup. Nothing in it is trusted: it is read, and only after these checks.
import { access, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../kernel/errors/errors.js';
import type { AppliedMigration } from '../inspect-data.js';
import { SqliteFile } from './sqlite-file.js';

/** Most bytes of a backup, wherever it comes from. */
export const MOST_BYTES = 4 * 1024 ** 3;
/** A panel has about a hundred tables and indexes. */
const MOST_OBJECTS = 5_000;
const MOST_SQL = 4 * 1024 * 1024;
const MOST_MIGRATIONS = 20_000;
const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;

/** Beginnings of other files, and what to do with them. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'it is empty'],
  [
    /^age-encryption\.org\/v1|^-----BEGIN AGE ENCRYPTED FILE-----/,
    'it is encrypted; decrypt it with age first',
  ],
  [/^PGDMP/, 'it is a dump of PostgreSQL'],
  [/^PK/, 'it is a ZIP archive; unpack it first'],
  [/^[^ -~]\x8b|^BZh|^\xfd7zXZ|^\(\xb5\/\xfd/, 'it is compressed; unpack it first'],
  [
    /^(?:\xef\xbb\xbf)?\s*(?:PRAGMA|BEGIN TRANSACTION|CREATE TABLE|INSERT INTO|--|\/\*)/i,
    'it is SQL text; only SQLite files are restored, because text could execute anything',
  ],
];

async function checkHeader(path: string): Promise<void> {
  const file = await open(path);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new Error('it is not a regular file');
    if (facts.size > MOST_BYTES)
      throw new Error(`it has ${facts.size} bytes, and a backup has at most ${MOST_BYTES}`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const start = buffer.toString('latin1', 0, bytesRead);
    if (!start.startsWith(MAGIC)) {
      const other = OTHERS.find(([beginning]) => beginning.test(start));
      throw new Error(other ? other[1] : 'it is not a SQLite file');
    }
    if (bytesRead < HEADER_BYTES) throw new Error('it is incomplete');
    const page = buffer.readUInt16BE(16);
    const size = (page === 1 ? 65_536 : page) * buffer.readUInt32BE(28);
    if (facts.size < size) throw new Error(`it is incomplete: it has ${facts.size} of ${size} bytes`);
  } finally {
    await file.close();
  }
  const log = `${path}-wal`;
  const isSplit = await access(log).then(
    () => true,
    () => false,
  );
  if (isSplit)
    throw new Error(`a part of it is in ${log}; copy the database with \`weir backup\` or \`VACUUM INTO\``);
}

/** Refuses what no panel creates. A trigger or a view runs code of its author. */
async function checkSchema(file: SqliteFile): Promise<void> {
  const [size] = await file.rows<{ objects: number; bytes: number }>(
    'SELECT count(*) AS objects, coalesce(sum(octet_length(sql)), 0) AS bytes FROM sqlite_master',
  );
  if (!size || size.objects > MOST_OBJECTS || size.bytes > MOST_SQL)
    throw new Error(
      `its schema is too large: ${size?.objects} tables and indexes in ${size?.bytes} bytes of SQL; at most ${MOST_OBJECTS} and ${MOST_SQL}`,
    );
  const [code] = await file.rows<{ type: string; name: string }>(
    `SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index')
     UNION ALL SELECT 'virtual table', name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'
     UNION ALL SELECT 'index on an expression', master.name FROM sqlite_master master, pragma_index_xinfo(master.name) columns
       WHERE master.type = 'index' AND columns.cid = -2
     LIMIT 1`,
  );
  if (code)
    throw new Error(
      `it has the ${code.type} ${JSON.stringify(code.name.slice(0, 100))}; the database of a panel has none`,
    );
}

async function checkIntact(file: SqliteFile): Promise<void> {
  const found = await file.rows<{ quick_check: string }>('PRAGMA quick_check(3)');
  if (found.length !== 1 || found[0]?.quick_check !== 'ok')
    throw new Error(`it is damaged: ${found.map((row) => row.quick_check.slice(0, 200)).join('; ')}`);
}

/** The migrations that made its tables. */
async function readHistory(file: SqliteFile): Promise<AppliedMigration[]> {
  const names = new Set(
    (await file.rows<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")).map(
      ({ name }) => name,
    ),
  );
  if (!names.has('kernel_migrations'))
    throw new Error(
      names.has('client_traffics') && names.has('users')
        ? 'it is a database of 3x-ui; `weir import 3x-ui` takes it in (docs/moving-in.md)'
        : 'it is not the database of a panel: the table kernel_migrations is missing',
    );
  const history = await file.rows<{ plugin: unknown; name: unknown }>(
    `SELECT substr(plugin, 1, 129) AS plugin, substr(name, 1, 129) AS name FROM kernel_migrations LIMIT ${MOST_MIGRATIONS + 1}`,
  );
  if (history.length > MOST_MIGRATIONS) throw new Error(`it lists more than ${MOST_MIGRATIONS} migrations`);
  return history.map(({ plugin, name }) => {
    if (typeof plugin !== 'string' || typeof name !== 'string' || `${plugin}${name}`.length > 256)
      throw new Error('its table kernel_migrations has a row that no panel wrote');
    return { plugin, name };
  });
}

export interface ForeignFile {
  readonly file: SqliteFile;
  readonly history: readonly AppliedMigration[];
}

/** SQLite reads the whole schema before it answers anything, and hundreds of thousands of tables take it minutes. */
async function inTime<T>(work: Promise<T>, patienceMs: number): Promise<T> {
  const over = new AbortController();
  const late = sleep(patienceMs, undefined, { signal: over.signal }).then(() =>
    Promise.reject(new Error(`its schema could not be read within ${patienceMs / 1000} s`)),
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
    work.catch(() => undefined);
  }
}

/** Opens a backup after all checks that need nothing but the file. Rejects with a sentence that names it; SQLite may still be at work then. */
export async function openBackup(path: string, patienceMs = 60_000): Promise<ForeignFile> {
  let file: SqliteFile | undefined;
  try {
    await checkHeader(path);
    file = await SqliteFile.openForeign(path);
    await inTime(checkSchema(file), patienceMs);
    await checkIntact(file);
    return { file, history: await readHistory(file) };
  } catch (cause) {
    // Closing waits for what is under way.
    void file?.close();
    throw new Error(`the file cannot be restored: ${messageOf(cause)}`, { cause });
  }
}
