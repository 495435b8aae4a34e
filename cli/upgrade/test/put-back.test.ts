import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import sqlite3 from 'sqlite3';
import { lockFolder } from '../../../file/lock.js';
import { appliedMigrations } from '../../../panel/inspect-data.js';
import { findCopy, isSame, putBack } from '../put-back.js';

const migration = (name: string) => ({ plugin: 'probe', name });
const AT = Date.UTC(2026, 10, 23, 12);
const copyName = (ms: number): string =>
  `before-migration-${new Date(AT + ms).toISOString().replaceAll(/[:.]/g, '-')}.sqlite`;

/** A database in which these migrations have run; with a write-ahead log if `open`, until the returned function is called. */
async function database(path: string, names: readonly string[], open = false): Promise<() => Promise<void>> {
  const file = new sqlite3.Database(path);
  const close = () => new Promise<void>((resolve) => file.close(() => resolve()));
  await new Promise<void>((resolve, reject) =>
    file.exec(
      `PRAGMA journal_mode=${open ? 'WAL' : 'DELETE'};
      CREATE TABLE kernel_migrations (plugin TEXT, name TEXT, ran_at INTEGER);
      ${names.map((name) => `INSERT INTO kernel_migrations VALUES ('probe', '${name}', 1);`).join('\n')}`,
      (error) => (error ? reject(error) : resolve()),
    ),
  );
  if (!open) await close();
  return close;
}

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'backups'));
  return folder;
}

test('finds the first copy since the upgrade that has what had run before', async (t) => {
  const folder = await folderOf(t);
  const backups = join(folder, 'backups');
  const wanted = { applied: [migration('0001')], at: AT, backup: join(backups, 'weir.db') };
  t.is(await findCopy(folder, wanted), undefined);
  await database(wanted.backup, ['0001']);
  t.is(await findCopy(folder, wanted), wanted.backup, 'the backup is older, but better than nothing');
  await database(join(backups, copyName(-1000)), ['0001']);
  t.is(await findCopy(folder, wanted), wanted.backup, 'that of another upgrade is not taken');
  await database(join(backups, copyName(2000)), ['0001']);
  await database(join(backups, copyName(3000)), ['0001', '0002']);
  await database(join(backups, copyName(1000)), ['0001', '0002']);
  t.is(await findCopy(folder, wanted), join(backups, copyName(2000)));
  await writeFile(join(backups, copyName(500)), 'damaged');
  t.is(await findCopy(folder, wanted), join(backups, copyName(2000)));
});

test('puts a copy in place, and keeps the migrated database with all that is in its log', async (t) => {
  const folder = await folderOf(t);
  const path = join(folder, 'weir.sqlite');
  const copy = join(folder, 'backups', copyName(1));
  await database(copy, ['0001']);
  // As a killed panel leaves it: all of the content is in the log.
  const live = join(await folderOf(t), 'weir.sqlite');
  const close = await database(live, ['0001', '0002'], true);
  for (const end of ['', '-wal']) await copyFile(`${live}${end}`, `${path}${end}`);
  await close();
  const kept = await putBack(folder, copy);
  t.true(isSame(await appliedMigrations(undefined, folder), [migration('0001')]));
  t.deepEqual(
    (await readdir(folder)).filter((name) => /^(?:weir\.sqlite-|restore)/.test(name)),
    [],
  );
  t.regex(kept, /backups\/after-upgrade-[^/]+\.sqlite$/);
  const other = await folderOf(t);
  await copyFile(kept, join(other, 'weir.sqlite'));
  t.true(isSame(await appliedMigrations(undefined, other), [migration('0001'), migration('0002')]));
});

test('touches nothing while a panel has the folder', async (t) => {
  const folder = await folderOf(t);
  const copy = join(folder, 'backups', copyName(1));
  await database(copy, ['0001']);
  await database(join(folder, 'weir.sqlite'), ['0001', '0002']);
  const lock = await lockFolder(folder);
  t.teardown(() => lock.release());
  await t.throwsAsync(putBack(folder, copy), { message: /is in use by the panel/ });
  t.is((await appliedMigrations(undefined, folder))?.length, 2);
});

test('leaves no draft when it fails', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'backups'), 'not a folder');
  await database(join(folder, 'weir.sqlite'), ['0001', '0002']);
  await database(join(folder, 'copy.sqlite'), ['0001']);
  await t.throwsAsync(putBack(folder, join(folder, 'copy.sqlite')), { message: /EEXIST/ });
  t.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('restore-')),
    [],
  );
  t.is((await appliedMigrations(undefined, folder))?.length, 2);
});

test('compares what has run, in any order', (t) => {
  t.true(isSame([migration('a'), migration('b')], [migration('b'), migration('a')]));
  t.false(isSame([migration('a')], [migration('b')]));
  t.false(isSame(undefined, []));
  t.true(isSame(undefined, undefined));
});
