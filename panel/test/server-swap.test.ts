// Runs on every database.
// The swap of databases on a server: its moments, its way back, and a user who may not create databases.
import { onlyOn } from '../../test/harness/left-out.js';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createConnection } from 'mysql2/promise';
import { databaseOf, dropDatabase, onSqlite } from '../../test/harness/database.js';
import { lastRestore, settleRestore, swapDatabase } from '../restore/swap.js';

const run = onlyOn(!onSqlite, 'a database server');

interface Databases {
  makeScratch(url: URL): Promise<URL>;
}
const databases = (): Promise<Databases> =>
  import('../../drivers/mysql/databases.js' as string) as Promise<Databases>;

async function execute(address: string, ...statements: readonly string[]): Promise<unknown[]> {
  const connection = await createConnection(address);
  try {
    let rows: unknown[] = [];
    for (const statement of statements)
      [rows] = (await connection.query(statement)) as unknown as [unknown[]];
    return rows;
  } finally {
    await connection.end();
  }
}
const fill = (address: string, word: string) =>
  execute(
    address,
    'CREATE TABLE parents (id BIGINT PRIMARY KEY, word TEXT)',
    'CREATE TABLE children (id BIGINT PRIMARY KEY, parent BIGINT NOT NULL, FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE)',
    `INSERT INTO parents VALUES (1, '${word}')`,
    'INSERT INTO children VALUES (1, 1)',
  );
const wordIn = async (address: string) =>
  ((await execute(address, 'SELECT word FROM parents')) as { word: string }[])[0]?.word;

async function setUp(t: ExecutionContext) {
  const directory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const address = (await databaseOf(directory)) ?? '';
  t.teardown(async () => {
    const name = new URL(address).pathname.slice(1);
    await execute(
      address,
      `DROP DATABASE IF EXISTS ${name}_restore`,
      `DROP DATABASE IF EXISTS ${name}_before_restore`,
    );
    await dropDatabase(directory);
    await rm(directory, { recursive: true, force: true });
  });
  await fill(address, 'old');
  const scratch = await (await databases()).makeScratch(new URL(address));
  await fill(scratch.href, 'new');
  const folder = await mkdtemp(join(directory, 'restore-'));
  return { place: { directory, address }, folder, scratch: scratch.href };
}

run('the tables change places, with their references', async (t) => {
  const { place, folder, scratch } = await setUp(t);
  const swapped = await swapDatabase(place, folder);
  t.is(await wordIn(place.address), 'new');
  await swapped.done();
  t.like(await lastRestore(place.directory), { state: 'done' });
  await t.throwsAsync(execute(scratch, 'SELECT 1'), { message: /Unknown database/ });
  await execute(place.address, 'DELETE FROM parents');
  t.deepEqual(
    await execute(place.address, 'SELECT * FROM children'),
    [],
    'the reference leads to the table in place',
  );
  await t.throwsAsync(execute(place.address, 'INSERT INTO children VALUES (2, 7)'));
});

run('the previous tables come back', async (t) => {
  const { place, folder } = await setUp(t);
  const swapped = await swapDatabase(place, folder);
  await swapped.undo('it is ill');
  t.is(await wordIn(place.address), 'old');
  t.like(await lastRestore(place.directory), { state: 'failed', problem: 'it is ill' });
  await execute(place.address, 'DELETE FROM parents');
  t.deepEqual(await execute(place.address, 'SELECT * FROM children'), []);
});

run('after a death, the tables themselves say whether they have moved', async (t) => {
  for (const [hasMoved, problem, word, state] of [
    [false, undefined, 'old', 'failed'],
    [false, 'it is ill', 'old', 'failed'],
    [true, undefined, 'new', 'done'],
    [true, 'it is ill', 'old', 'failed'],
  ] as const) {
    const { place, folder } = await setUp(t);
    // A restore before this one has left its tables.
    if (hasMoved) await swapDatabase(place, folder);
    else
      await writeFile(
        join(place.directory, 'restore.json'),
        JSON.stringify({ at: 1, state: 'under way', problem: '', previous: '', scratch: folder }),
      );
    t.is(await settleRestore(place, problem), hasMoved && problem !== undefined);
    t.is(await wordIn(place.address), word);
    t.is((await lastRestore(place.directory))?.state, state);
  }
});

run('a user who may not create databases is told which one', async (t) => {
  const { place } = await setUp(t);
  const url = new URL(place.address);
  const name = url.pathname.slice(1);
  const user = `weir${name.slice(-8)}`;
  try {
    await execute(
      place.address,
      `CREATE USER '${user}'@'%' IDENTIFIED BY 'x'`,
      `GRANT ALL ON ${name}.* TO '${user}'@'%'`,
    );
  } catch {
    return t.pass('this server lets the tests create no user');
  }
  t.teardown(() => execute(place.address, `DROP USER '${user}'@'%'`));
  [url.username, url.password] = [user, 'x'];
  await t.throwsAsync((await databases()).makeScratch(url), {
    message: new RegExp(`${name}_restore.*cannot be created.*grant`),
  });
});
