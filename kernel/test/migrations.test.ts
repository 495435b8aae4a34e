// Runs on every database.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Migration } from '../index.js';
import { dropDatabase, databaseOf, onSqlite } from '../../test/harness/database.js';
import { connect, type Connections } from '../database/connect.js';
import { bare, World } from './world.js';

const step = (name: string, ...statements: string[]): Migration => ({ name, up: () => statements });
const insert = (word: string) => `INSERT INTO words (word) VALUES ('${word}')`;
const first: Migration = {
  name: '0001-words',
  up: ({ id }) => [`CREATE TABLE words (id ${id}, word VARCHAR(20))`, insert('one')],
};

async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(async () => (await dropDatabase(folder), await rm(folder, { recursive: true, force: true })));
  return folder;
}
/** Boots a panel whose one plugin has these migrations, and stops it. */
async function run(folder: string, ...migrations: Migration[]): Promise<World['log']> {
  const world = await World.boot([bare('words', { migrations })], { folder });
  await world.kernel.stop('test');
  return world.log;
}
async function look<T>(folder: string, sql: string, file = 'weir.sqlite'): Promise<T[]> {
  let connections: Connections | undefined;
  try {
    const { sequelize } = (connections = await connect(await databaseOf(folder), folder));
    if (file !== 'weir.sqlite') await sequelize.query(`ATTACH '${join(folder, file)}' AS copy`);
    return (await sequelize.query(sql))[0] as T[];
  } finally {
    await connections?.close();
  }
}
/** Which of these tables there are. */
async function tables(folder: string, ...names: string[]): Promise<string[]> {
  const all = await look<{ name: string }>(
    folder,
    onSqlite
      ? 'SELECT name FROM sqlite_master'
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  return names.filter((name) => all.some((found) => found.name === name));
}
const words = async (folder: string) =>
  (await look<{ word: string }>(folder, 'SELECT word FROM words ORDER BY id')).map(({ word }) => word);

test('runs pending migrations in order, once', async (t) => {
  const folder = await folderFor(t);
  const second = step('0002-more', insert('two'), insert('three'));
  const third = step('0003-last', insert('four'));
  const log = await run(folder, first, second);
  t.deepEqual(
    log
      .filter(({ plugin, msg }) => plugin === 'words' && msg === 'migrated')
      .map(({ migration }) => migration),
    ['0001-words', '0002-more'],
  );
  await run(folder, first, second);
  t.deepEqual(await words(folder), ['one', 'two', 'three']);
  await run(folder, first, second, third);
  t.deepEqual(await words(folder), ['one', 'two', 'three', 'four']);
  t.deepEqual(
    (
      await look<{ name: string }>(
        folder,
        "SELECT name FROM kernel_migrations WHERE plugin = 'words' ORDER BY name",
      )
    ).map(({ name }) => name),
    ['0001-words', '0002-more', '0003-last'],
  );
});

// Each runs in the pass over its database.
const onFile = onSqlite ? test : () => undefined;
const onServer = onSqlite ? () => undefined : test;
const failing = step(
  '0002-more',
  'CREATE TABLE extra (x INT)',
  insert('half'),
  'INSERT INTO no_such_table VALUES (1)',
);

onFile(
  'on SQLite, rolls back and names a migration that fails half-way, and runs it again when it is fixed',
  async (t) => {
    const folder = await folderFor(t);
    await run(folder, first);
    const error = await t.throwsAsync(run(folder, first, failing, step('0003-never', insert('never'))));
    t.regex(error.message, /migration 0002-more of plugin words failed and was rolled back: .*no_such_table/);
    t.deepEqual(await words(folder), ['one']);
    t.deepEqual(await tables(folder, 'extra'), []);
    t.is((await look(folder, "SELECT name FROM kernel_migrations WHERE plugin = 'words'")).length, 1);
    await run(folder, first, step('0002-more', 'CREATE TABLE extra (x INT)', insert('two')));
    t.deepEqual(await words(folder), ['one', 'two']);
  },
);

onServer(
  'on MySQL, names a migration that fails half-way with its statement, and continues there when it is fixed',
  async (t) => {
    const folder = await folderFor(t);
    await run(folder, first);
    const error = await t.throwsAsync(run(folder, first, failing, step('0003-never', insert('never'))));
    t.regex(
      error.message,
      /migration 0002-more of plugin words failed at statement 3; the statements before it are done.*no_such_table/,
    );
    t.deepEqual(await words(folder), ['one', 'half']);
    await run(
      folder,
      first,
      step('0002-more', 'CREATE TABLE extra (x INT)', insert('half'), insert('whole')),
    );
    t.deepEqual(await words(folder), ['one', 'half', 'whole']);
    t.deepEqual(await tables(folder, 'extra'), ['extra']);
    t.deepEqual(await look(folder, 'SELECT * FROM kernel_migration_steps'), []);
  },
);

onServer(
  'on MySQL, skips a statement that ran but was not recorded before a crash; reports an error of a first try',
  async (t) => {
    const folder = await folderFor(t);
    await run(folder, first);
    const second = step(
      '0002-more',
      'CREATE TABLE extra (x INT)',
      'CREATE INDEX extra_x ON extra (x)',
      insert('two'),
    );
    // Each of the two moments: the table is created but not recorded; the index is recorded.
    await look(folder, 'CREATE TABLE extra (x INT)');
    await t.throwsAsync(run(folder, first, second), { message: /failed at statement 1.*already exists/ });
    await look(
      folder,
      "REPLACE INTO kernel_migration_steps (plugin, name, begun, done) VALUES ('words', '0002-more', 1, 0)",
    );
    await run(folder, first, second);
    t.deepEqual(await words(folder), ['one', 'two']);
    await look(folder, "DELETE FROM kernel_migrations WHERE name = '0002-more'");
    await look(
      folder,
      "REPLACE INTO kernel_migration_steps (plugin, name, begun, done) VALUES ('words', '0002-more', 2, 1)",
    );
    await run(folder, first, second);
    t.deepEqual(await words(folder), ['one', 'two', 'two']);
  },
);

onServer('on MySQL, copies nothing and logs it', async (t) => {
  const folder = await folderFor(t);
  t.is((await run(folder, first)).filter(({ msg }) => /without a backup/.test(msg)).length, 0);
  const log = await run(folder, first, step('0002-more', insert('two')), step('0003-last', insert('three')));
  t.is(
    log.filter(({ level, msg }) => level === 'warn' && /without a backup.*server's own tools/.test(msg))
      .length,
    1,
  );
});

test('two plugins can use the same migration name', async (t) => {
  const folder = await folderFor(t);
  const world = await World.boot(
    [
      bare('one', { migrations: [step('0001-start', 'CREATE TABLE one (x INT)')] }),
      bare('two', { migrations: [step('0001-start', 'CREATE TABLE two (x INT)')] }),
    ],
    { folder },
  );
  await world.kernel.stop('test');
  t.deepEqual(await tables(folder, 'one', 'two'), ['one', 'two']);
});

onFile(
  'copies a database file with content before a change, once per start, and retains three copies',
  async (t) => {
    const folder = await folderFor(t);
    const copies = () =>
      readdir(join(folder, 'backups')).then(
        (names) => names.sort(),
        () => [],
      );
    await run(folder, first);
    t.deepEqual(await copies(), []);
    await run(folder, first);
    t.deepEqual(await copies(), []);
    const all = [first];
    const seen: string[] = [];
    for (const word of ['a', 'b', 'c', 'd', 'e']) {
      all.push(step(`${word}1`, insert(`${word}1`)), step(`${word}2`, insert(`${word}2`)));
      const log = await run(folder, ...all);
      t.is(log.filter(({ msg }) => msg === 'copied the database before migrating').length, 1);
      seen.push((await copies()).at(-1) ?? '');
    }
    t.deepEqual(await copies(), seen.slice(-3));
    // The copy is of the moment before, what was only in the write-ahead log included.
    const held = await look<{ word: string }>(
      folder,
      'SELECT word FROM copy.words ORDER BY id',
      join('backups', seen.at(-1) ?? ''),
    );
    t.deepEqual(
      held.map(({ word }) => word),
      ['one', 'a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'd1', 'd2'],
    );
  },
);

onFile('copies once for the migrations of all plugins: the database of before the first', async (t) => {
  const folder = await folderFor(t);
  await run(folder, first);
  const world = await World.boot(
    ['kiosk', 'letters', 'post', 'words'].map((name) =>
      bare(name, {
        migrations:
          name === 'words'
            ? [first, step('0002-more', insert('two'))]
            : [step('0001-start', `CREATE TABLE ${name} (x INT)`)],
      }),
    ),
    { folder },
  );
  await world.kernel.stop('test');
  const copies = await readdir(join(folder, 'backups'));
  t.is(copies.length, 1);
  const sql = "SELECT name FROM copy.sqlite_master WHERE name IN ('kiosk', 'letters', 'post', 'words')";
  t.deepEqual(await look(folder, sql, join('backups', copies[0] ?? '')), [{ name: 'words' }]);
});

test('enforces foreign keys, ignores case in names, and uses the same column types everywhere', async (t) => {
  const folder = await folderFor(t);
  const up: Migration['up'] = ({ id, name, integer, bool, json }) => [
    `CREATE TABLE parents (id ${id}, name ${name} NOT NULL UNIQUE, at ${integer}, fit ${bool}, data ${json})`,
    `CREATE TABLE children (id ${id}, parent BIGINT NOT NULL, FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE)`,
  ];
  const refusals: string[] = [];
  const world = await World.boot(
    [
      bare('kin', {
        migrations: [{ name: '0001-kin', up }],
        start: async ({ db }) => {
          await db.write((tx) => tx.run("INSERT INTO parents (name) VALUES ('Ada')"));
          for (const sql of [
            "INSERT INTO parents (name) VALUES ('ADA')",
            'INSERT INTO children (parent) VALUES (99)',
          ])
            await db.write((tx) => tx.run(sql)).catch((error: Error) => refusals.push(error.name));
          await db.write(
            async (tx) => (
              await tx.run('INSERT INTO children (parent) VALUES (1)'), tx.run('DELETE FROM parents')
            ),
          );
        },
      }),
    ],
    { folder },
  );
  await world.kernel.stop('test');
  t.deepEqual(refusals, ['SequelizeUniqueConstraintError', 'SequelizeForeignKeyConstraintError']);
  t.deepEqual(await look(folder, 'SELECT * FROM children'), []);
});
