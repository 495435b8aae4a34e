// Runs on every database.
// Ids go on after the last one that was ever given, also where the rows of the last ones are gone: others keep them as identities.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { databaseOf, dropDatabase, onSqlite } from '../../test/harness/database.js';
import { onlyOn } from '../../test/harness/left-out.js';
import { copyRows, type RowSource, type RowTarget } from '../restore/copy-rows.js';
import { SqliteFile } from '../restore/sqlite-file.js';
import { SqliteSource, SqliteTarget } from '../restore/sqlite-rows.js';

type ServerRows = RowSource & RowTarget & { close(): Promise<void>; rows<R>(sql: string): Promise<R[]> };
interface Driver {
  readonly MysqlRows: { snapshot(url: URL): Promise<ServerRows>; target(url: URL): Promise<ServerRows> };
}
const ADD = "INSERT INTO guests (name) VALUES ('Ada')";
const LAST = 'SELECT max(id) AS id FROM guests';

async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => (await dropDatabase(folder), await rm(folder, { recursive: true, force: true })));
  return folder;
}
async function fileWith(t: ExecutionContext, path: string, ...statements: string[]): Promise<SqliteFile> {
  await writeFile(path, '');
  const file = await SqliteFile.open(path);
  t.teardown(() => file.close());
  await file.execute(
    ['CREATE TABLE guests (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)', ...statements].join(';'),
  );
  return file;
}
/** The guests 1 to 5 came, and the last three left. */
const withGap = (t: ExecutionContext, folder: string) =>
  fileWith(t, join(folder, 'from.sqlite'), ...Array<string>(5).fill(ADD), 'DELETE FROM guests WHERE id > 2');

test('from file to file', async (t) => {
  const folder = await folderFor(t);
  const to = await fileWith(t, join(folder, 'to.sqlite'));
  const { rows } = await copyRows(new SqliteSource(await withGap(t, folder)), new SqliteTarget(to));
  t.deepEqual(rows, { guests: 2 });
  await to.execute(ADD);
  t.deepEqual(await to.rows(LAST), [{ id: 6 }]);
});

onlyOn(!onSqlite, 'a database server')('from file to server, and back', async (t) => {
  const folder = await folderFor(t);
  const url = new URL((await databaseOf(folder)) ?? '');
  const { MysqlRows } = (await import('../../drivers/mysql/rows.js' as string)) as Driver;
  const server = await MysqlRows.target(url);
  t.teardown(() => server.close());
  await server.rows('CREATE TABLE guests (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name LONGTEXT)');
  await copyRows(new SqliteSource(await withGap(t, folder)), server);
  const back = await fileWith(t, join(folder, 'back.sqlite'));
  const source = await MysqlRows.snapshot(url);
  t.teardown(() => source.close());
  await copyRows(source, new SqliteTarget(back));
  await server.rows(ADD);
  t.deepEqual(await server.rows(LAST), [{ id: 6 }]);
  await back.execute(ADD);
  t.deepEqual(await back.rows(LAST), [{ id: 6 }]);
});
