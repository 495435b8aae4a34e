// The moments of a swap of databases at which a process may die.
import { access, link, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SqliteFile } from '../restore/sqlite-file.js';
import { lastRestore, settleRestore, swapDatabase } from '../restore/swap.js';
import sqlite3 from 'sqlite3';

async function make(path: string, word: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const database: sqlite3.Database = new sqlite3.Database(path, (failed) => {
      if (failed) return reject(failed);
      database.exec(`CREATE TABLE t (word); INSERT INTO t VALUES ('${word}')`, (error) =>
        error ? reject(error) : database.close(() => resolve()),
      );
    });
  });
}

async function wordIn(path: string): Promise<unknown> {
  const file = await SqliteFile.open(path);
  try {
    return (await file.rows('SELECT word FROM t'))[0]?.['word'];
  } finally {
    await file.close();
  }
}

async function folders(t: ExecutionContext) {
  const directory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const scratch = await mkdtemp(join(directory, 'restore-'));
  await make(join(directory, 'weir.sqlite'), 'old');
  await make(join(scratch, 'weir.sqlite'), 'new');
  return { directory, scratch, path: join(directory, 'weir.sqlite') };
}

test('the new database is in place, the previous one beside it, and keys are added', async (t) => {
  const { directory, scratch, path } = await folders(t);
  await writeFile(join(directory, 'secrets.key'), 'own\n');
  await writeFile(join(scratch, 'secrets.key'), 'theirs\nown\n');
  const swapped = await swapDatabase({ directory }, scratch);
  t.is(await wordIn(path), 'new');
  t.is(await readFile(join(directory, 'secrets.key'), 'utf8'), 'own\ntheirs\n');
  await swapped.done();
  const last = await lastRestore(directory);
  t.is(last?.state, 'done');
  t.is(await wordIn(last?.previous ?? ''), 'old');
  await t.throwsAsync(access(scratch));
});

test('a panel that does not start gets the previous database back, with what its log held', async (t) => {
  const { directory, scratch, path } = await folders(t);
  const open = await SqliteFile.open(path);
  await open.execute("PRAGMA journal_mode=WAL; UPDATE t SET word = 'old, in the log'");
  await open.close();
  const swapped = await swapDatabase({ directory }, scratch);
  const started = await SqliteFile.open(path);
  await started.execute("PRAGMA journal_mode=WAL; UPDATE t SET word = 'new, in the log'");
  await started.close();
  await swapped.undo('it is ill');
  t.is(await wordIn(path), 'old, in the log');
  t.like(await lastRestore(directory), { state: 'failed', problem: 'it is ill', previous: '' });
});

test('a database that another program has open is not swapped', async (t) => {
  const { directory, scratch, path } = await folders(t);
  const open = await SqliteFile.open(path);
  await open.execute('PRAGMA journal_mode=WAL; BEGIN; SELECT * FROM t;');
  await t.throwsAsync(swapDatabase({ directory }, scratch), { message: /locked|has .* open/ });
  await open.close();
  t.is(await wordIn(path), 'old');
});

const record = (directory: string, scratch: string, previous: string) =>
  writeFile(
    join(directory, 'restore.json'),
    JSON.stringify({ at: 1, state: 'under way', problem: '', previous, scratch }),
  );

test('there is nothing to settle before the first start has made the folder', async (t) => {
  const { directory } = await folders(t);
  t.false(await settleRestore({ directory: join(directory, 'none') }, 'the port is wrong'));
});

test('a death before the rename leaves the previous database, and the next start says so', async (t) => {
  const { directory, scratch, path } = await folders(t);
  await mkdir(join(directory, 'backups'));
  const previous = join(directory, 'backups', 'before-restore-x.sqlite');
  await link(path, previous);
  await record(directory, scratch, previous);
  t.false(await settleRestore({ directory }));
  t.is(await wordIn(path), 'old');
  t.like(await lastRestore(directory), { state: 'failed', problem: 'the restore was interrupted' });
  t.deepEqual(
    (await readdir(directory)).filter((name) => name.startsWith('restore-')),
    [],
  );
});

test('a death after the rename leaves the new database; if the panel does not start with it, the previous one comes back', async (t) => {
  for (const problem of [undefined, 'it is ill']) {
    const { directory, scratch, path } = await folders(t);
    await mkdir(join(directory, 'backups'));
    const previous = join(directory, 'backups', 'before-restore-x.sqlite');
    await link(path, previous);
    await record(directory, scratch, previous);
    await rename(join(scratch, 'weir.sqlite'), path);
    t.is(await settleRestore({ directory }, problem), problem !== undefined);
    t.is(await wordIn(path), problem === undefined ? 'new' : 'old');
    t.is((await lastRestore(directory))?.state, problem === undefined ? 'done' : 'failed');
    t.false(await settleRestore({ directory }, 'later'), 'it is settled once');
  }
});
