// Files that look like a backup, made by somebody who knows how one is read.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import sqlite3 from 'sqlite3';
import { copyRows, type RowTarget } from '../../../panel/restore/copy-rows.js';
import { openBackup } from '../../../panel/restore/foreign-file.js';
import { SqliteSource } from '../../../panel/restore/sqlite-rows.js';
import type { TableShape } from '../../../panel/restore/table-shape.js';

/** A file with what the checks ask for, and with more. */
async function crafted(t: ExecutionContext, sql: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'crafted.db');
  const database = new sqlite3.Database(path);
  const begin =
    "CREATE TABLE kernel_migrations (plugin TEXT, name TEXT, body TEXT); INSERT INTO kernel_migrations VALUES ('clients', '0001-clients', 'x');";
  await new Promise<void>((resolve, reject) =>
    database.exec(`${begin}${sql}`, (error) => (error ? reject(error) : resolve())),
  );
  await new Promise((resolve) => database.close(resolve));
  return path;
}
const refusal = async (path: string): Promise<string> =>
  openBackup(path).then(
    async ({ file }) => {
      await file.close();
      return '';
    },
    (error: Error) => error.message,
  );

const WRITABLE = 'PRAGMA writable_schema = ON;';
const REFUSED: Readonly<Record<string, readonly [sql: string, says: RegExp]>> = {
  'a virtual table': ['CREATE VIRTUAL TABLE v USING fts5(a);', /it has the virtual table "v/],
  'a virtual table whose text hides it': [
    `CREATE VIRTUAL TABLE v USING fts5(a); ${WRITABLE} UPDATE sqlite_master SET sql = 'create /**/ virtual table v using fts5(a)' WHERE name = 'v';`,
    /it has the virtual table "v/,
  ],
  'an index on an expression': [
    'CREATE INDEX computed ON kernel_migrations (upper(name));',
    /it has the index on an expression "computed"/,
  ],
  'a view': ['CREATE VIEW v AS SELECT 1;', /it has the view "v"/],
  'a trigger': [
    'CREATE TRIGGER g AFTER INSERT ON kernel_migrations BEGIN SELECT 1; END;',
    /it has the trigger "g"/,
  ],
};
for (const [what, [sql, says]] of Object.entries(REFUSED))
  test.serial(`${what} is refused by name`, async (t) => {
    t.regex(await refusal(await crafted(t, sql)), says);
  });

test.serial('a schema that takes SQLite too long is given up', async (t) => {
  const path = await crafted(
    t,
    `${WRITABLE} WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20000)
     INSERT INTO sqlite_master SELECT 'table', 't' || n, 't' || n, 2, 'CREATE TABLE t' || n || '(a)' FROM r;`,
  );
  t.regex(await refusal(path), /its schema is too large: 2\d{4} tables/);
  t.regex(
    await openBackup(path, 1).then(String, (error: Error) => error.message),
    /its schema could not be read within 0.001 s/,
  );
});

test('a CHECK of the file is not executed', async (t) => {
  // Each would take seconds for a row, and this one says no to all. SQLite reads none of a file that is open for reading only.
  const sql = `CREATE TABLE costly (a TEXT); INSERT INTO costly VALUES ('x'); ${WRITABLE}
    UPDATE sqlite_master SET sql = 'CREATE TABLE costly (a TEXT, CHECK (length(printf(''%.*c'', 1000, ''x'')) < 0))' WHERE name = 'costly';`;
  t.is(await refusal(await crafted(t, sql)), '');
});

test('a row id that JavaScript rounds is refused, and not read for ever', async (t) => {
  const { file } = await openBackup(
    await crafted(
      t,
      'CREATE TABLE days (up TEXT); INSERT INTO days (rowid, up) VALUES (9007199254740993, 1);',
    ),
  );
  t.teardown(() => file.close());
  const source = new SqliteSource(file);
  const table = (await source.tables()).find(({ name }) => name === 'days');
  let slices = 0;
  const read = async () => {
    for await (const _ of source.slices(table as TableShape)) if (++slices === 5) return;
  };
  await t.throwsAsync(read(), { message: /a row of days has the row id 9007199254740992/ });
  t.is(slices, 1);
});

test('a number without end is refused by name', async (t) => {
  const { file } = await openBackup(
    await crafted(t, 'CREATE TABLE counts (up INTEGER); INSERT INTO counts VALUES (9e999);'),
  );
  t.teardown(() => file.close());
  const source = new SqliteSource(file);
  const tables = (await source.tables()).filter(({ name }) => name === 'counts');
  const inserted: unknown[] = [];
  const target: RowTarget = {
    tables: async () => tables,
    begin: async () => undefined,
    clear: async () => undefined,
    insert: async (_, rows) => void inserted.push(...rows),
    setLastId: async () => undefined,
    finish: async () => undefined,
  };
  await t.throwsAsync(copyRows(source, target), {
    message: /counts\.up holds a value that is not of its type INTEGER/,
  });
  t.deepEqual(inserted, []);
});

test('a compressed file is refused by name, however small and however much is in it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'bomb.gz');
  await writeFile(path, gzipSync(Buffer.alloc(64 * 1024 * 1024)));
  t.regex(await refusal(path), /it is compressed; unpack it first/);
});

test('names with quotes and commands are names', async (t) => {
  t.is(await refusal(await crafted(t, 'CREATE TABLE "a""b; DROP TABLE x" (a);')), '');
});
