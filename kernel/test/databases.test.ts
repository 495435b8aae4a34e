// Runs on every database.
// What plugins may rely on is the same on each: how values compare, what types they come back as, how bulk statements read.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createConnection } from 'mysql2/promise';
import { column, type Database, definePlugin, type Migration, table, type TableModels } from '../index.js';
import { ConfigError } from '../../panel/variables.js';
import { classify } from '../../drivers/mysql/classify.js';
import { endWhenStalled } from '../../drivers/mysql/stalled.js';
import { execute, type MysqlConnection } from '../../tables/connection.js';
import { databaseOf, dropDatabase, onSqlite } from '../../test/harness/database.js';
import { DatabaseProxy } from '../../test/harness/database-proxy.js';
import { until, World } from './world.js';

const tables = {
  things: table('things', {
    id: column.id(),
    name: column.text(),
    size: column.integer(),
    fit: column.bool(),
    data: column.json<Record<string, unknown>>(),
    note: column.optionalText(),
  }),
};
const migrations: readonly Migration[] = [
  {
    name: '0001-things',
    up: ({ id, integer, bool, text, json }) => [
      `CREATE TABLE things (id ${id}, name VARCHAR(190) NOT NULL UNIQUE, size ${integer} NOT NULL, fit ${bool} NOT NULL, data ${json}, note ${text})`,
      `CREATE TABLE sums (a ${integer} NOT NULL, b ${integer} NOT NULL, total ${integer} NOT NULL, word VARCHAR(64), PRIMARY KEY (a, b))`,
    ],
  },
];
const MOST = Number.MAX_SAFE_INTEGER;
/** Each runs in the pass over a server. */
const onServer = onSqlite ? () => undefined : test;

async function open(options: { folder?: string; env?: Record<string, string> } = {}) {
  const inner: { db?: Database; models?: TableModels<typeof tables> } = {};
  const things = definePlugin({
    name: 'things',
    version: '1.0.0',
    api: 1,
    about: 'Keeps things.',
    tables,
    migrations,
    start: ({ db, tables: models }) => void Object.assign(inner, { db, models }),
  });
  const world = await World.boot([things], options);
  const { db, models } = inner;
  if (!db || !models) throw new Error('the plugin did not start');
  const add = (name: string) =>
    db.write((tx) => tx.run('INSERT INTO things (name, size, fit) VALUES (:name, 1, 1)', { name }));
  return {
    world,
    db,
    models,
    add,
    names: async () =>
      (await db.query<{ name: string }>('SELECT name FROM things ORDER BY id')).map(({ name }) => name),
  };
}

test('a text with the character NUL is stored, found and read like others, in statements and models', async (t) => {
  const { world, db, models, add, names } = await open();
  await using _ = world;
  const all = ['\0', 'a\0b', "a\0'b\\", 'a'];
  for (const name of all) await add(name);
  t.deepEqual(await names(), all);
  for (const name of all) {
    t.deepEqual(await db.query('SELECT name FROM things WHERE name IN (:name)', { name }), [{ name }]);
    t.is(await models.things.count({ where: { name } }), 1);
    await db.write((tx) => models.things.update({ size: 2 }, { where: { name }, transaction: tx.t }));
  }
  t.is(await models.things.count({ where: { size: 2 } }), all.length);
  await db.write((tx) => tx.run('DELETE FROM things WHERE name = :name', { name: 'a\0b' }));
  t.is((await names()).length, all.length - 1);
});

test('compares texts by every character: case, accents, trailing spaces', async (t) => {
  const { world, db, add, names } = await open();
  await using _ = world;
  const all = ['ada', 'Ada', 'ada ', 'adá', 'ada\u0301', 'ß', 'ss', '🙂', '🙃'];
  for (const name of all) await add(name);
  t.deepEqual(await names(), all);
  for (const name of all)
    t.deepEqual(await db.query('SELECT name FROM things WHERE name = :name', { name }), [{ name }]);
  const error = await t.throwsAsync(add('Ada'));
  t.is(error.name, 'SequelizeUniqueConstraintError');
});

test('returns every text unchanged', async (t) => {
  const { world, add, names } = await open();
  await using _ = world;
  const all = [
    "'; DROP TABLE things; --",
    'a\\b\\',
    '"quoted" `ticks`',
    'line\nline\ttab',
    ':name ? $1 %s',
    '100%_',
  ];
  for (const name of all) await add(name);
  t.deepEqual(await names(), all);
});

test('returns numbers, sums and counts as numbers, booleans and JSON as declared', async (t) => {
  const { world, db, models } = await open();
  await using _ = world;
  const data = { z: [1, { y: 'ü\\"' }], a: null, big: MOST };
  await db.write(async (tx) => {
    const row = await models.things.create(
      { name: 'one', size: MOST - 1, fit: false, data, note: null },
      { transaction: tx.t },
    );
    t.is(row.get('id'), 1);
    await models.things.create(
      { name: 'two', size: 1, fit: true, data: {}, note: '' },
      { transaction: tx.t },
    );
  });
  t.deepEqual(await db.query('SELECT sum(size) AS total, count(*) AS n, max(id) AS last FROM things'), [
    { total: MOST, n: 2, last: 2 },
  ]);
  t.deepEqual(await db.query(`SELECT id, size, note FROM things WHERE name = 'one'`), [
    { id: 1, size: MOST - 1, note: null },
  ]);
  const rows = (await models.things.findAll({ order: ['id'] })).map((row) => row.get({ plain: true }));
  t.deepEqual(rows, [
    { id: 1, name: 'one', size: MOST - 1, fit: false, data, note: null },
    { id: 2, name: 'two', size: 1, fit: true, data: {}, note: '' },
  ]);
  // Keys keep their order.
  t.is(JSON.stringify(rows[0]?.data), JSON.stringify(data));
});

test('one statement inserts many rows and updates existing ones', async (t) => {
  const { world, db } = await open();
  await using _ = world;
  const save = (rows: readonly (readonly [number, number, number, string | null])[]) =>
    db.write((tx) => {
      const { rows: from, least, greatest, incoming, onConflict } = tx.sql;
      return tx
        .run(
          `INSERT INTO sums (a, b, total, word) SELECT j.a, j.b, j.total, j.word FROM ${from({ a: 'integer', b: 'integer', total: 'integer', word: 'text' })} AS j WHERE true
         ${onConflict('a, b', `total = ${least}(sums.total + ${incoming('total')}, ${MOST}), word = ${incoming('word')}`)}`,
          { rows: JSON.stringify(rows) },
        )
        .then(() => tx.query<{ n: number }>(`SELECT ${greatest}(1, 2) AS n`));
    });
  t.deepEqual(
    await save([
      [1, 1, 5, 'one'],
      [1, 2, MOST, null],
      [2, 1, 0, 'ü "\\ 🙂\n'],
    ]),
    [{ n: 2 }],
  );
  await save([
    [1, 2, 7, 'more'],
    [1, 1, 6, null],
    [3, 3, 3, '3'],
  ]);
  t.deepEqual(await db.query('SELECT a, b, total, word FROM sums ORDER BY a, b'), [
    { a: 1, b: 1, total: 11, word: null },
    { a: 1, b: 2, total: MOST, word: 'more' },
    { a: 2, b: 1, total: 0, word: 'ü "\\ 🙂\n' },
    { a: 3, b: 3, total: 3, word: '3' },
  ]);
});

test('a change returns how many rows it matched, also unchanged ones', async (t) => {
  const { world, db, add } = await open();
  await using _ = world;
  await add('one');
  await add('two');
  await db.write(async (tx) => {
    t.is(await tx.change('UPDATE things SET size = 1'), 2);
    t.is(await tx.change("UPDATE things SET size = 5 WHERE name = 'none'"), 0);
    t.is(await tx.change("DELETE FROM things WHERE name = 'one'"), 1);
  });
});

test('rejects an invalid database URL without showing its password', async (t) => {
  for (const url of [
    'mysql://weir:hush-hush@db',
    'postgres://weir:hush-hush@db/weir',
    'mysql://weir:hush-hush@db/a/b',
    'mysql://:hush-hush@db/weir',
    'mysql://weir:hush-hush@db/weir?ssl=1',
    'weir:hush-hush@db',
    'mysql://weir:hush-hush%@db/weir',
  ]) {
    const error = await t.throwsAsync(World.boot([], { env: { WEIR_DATABASE_URL: url } }), {
      instanceOf: ConfigError,
    });
    t.regex(error.message, /WEIR_DATABASE_URL.* mysql:\/\/user:password@host:port\/name/, url);
    t.notRegex(error.message, /hush/, url);
  }
});

test('names a server that does not answer, without the password, and frees the folder', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const error = await t.throwsAsync(
    World.boot([], { folder, env: { WEIR_DATABASE_URL: 'mysql://weir:hush-hush@127.0.0.1:1/panel' } }),
  );
  t.regex(error.message, /^the database panel on 127\.0\.0\.1:1 cannot be opened: .*ECONNREFUSED/);
  t.notRegex(JSON.stringify([error, error.message, error.stack, error.cause]), /hush/);
  const again = await World.boot([], { folder, env: { WEIR_DATABASE_URL: '' } });
  await again[Symbol.asyncDispose]();
});

/** Closes all connections to the database of a folder, as a restart of the server does. */
async function cut(folder: string): Promise<void> {
  const url = new URL((await databaseOf(folder)) ?? '');
  const connection = await createConnection(`mysql://${url.username}:${url.password}@${url.host}/`);
  try {
    const [rows] = await connection.query('SELECT id FROM information_schema.processlist WHERE db = ?', [
      url.pathname.slice(1),
    ]);
    for (const { id } of rows as { id: number }[]) await connection.query(`KILL ${id}`);
  } finally {
    await connection.end();
  }
}

onServer('does not show the password when it is wrong', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const url = new URL((await databaseOf(folder)) ?? '');
  url.password = 'hush-hush';
  const error = await t.throwsAsync(World.boot([], { folder, env: { WEIR_DATABASE_URL: url.href } }));
  t.regex(error.message, /^the database weir_\w+ on 127\.0\.0\.1:\d+ cannot be opened: Access denied/);
  t.notRegex(JSON.stringify([error, error.message, error.stack, error.cause]), /hush/);
});

onServer(
  'refuses a database that another panel uses, names its process, and accepts it after a stop',
  async (t) => {
    const { world } = await open();
    await using _ = world;
    const url = (await databaseOf(world.folder)) ?? '';
    const other = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
    t.teardown(() => rm(other, { recursive: true, force: true }));
    const error = await t.throwsAsync(open({ folder: other, env: { WEIR_DATABASE_URL: url } }));
    t.true(error.message.includes(`another panel holds it (process id ${process.pid} on `), error.message);
    t.true(
      error.message.includes(`data folder ${world.folder})`) && error.message.includes('WEIR_DATABASE_URL'),
      error.message,
    );
    t.false(error.message.includes(new URL(url).password));
    await world.kernel.stop('test');
    const { world: next } = await open({ folder: other, env: { WEIR_DATABASE_URL: url } });
    await next.kernel.stop('test');
  },
);

onServer('survives closed connections and loses no acknowledged write', async (t) => {
  const { world, db, add, names } = await open();
  await using _ = world;
  await add('before');
  await names();
  await cut(world.folder);
  await add('after');
  await until(
    () =>
      names().then(
        () => true,
        () => false,
      ),
    'reading works again',
  );
  t.deepEqual(await names(), ['before', 'after']);
  const failing = db.write(async (tx) => {
    await tx.run("INSERT INTO things (name, size, fit) VALUES ('lost', 1, 1)");
    await cut(world.folder);
    await tx.run("INSERT INTO things (name, size, fit) VALUES ('lost too', 1, 1)");
  });
  await t.throwsAsync(failing);
  await add('next');
  await until(
    () =>
      names().then(
        () => true,
        () => false,
      ),
    'reading works again',
  );
  t.deepEqual(await names(), ['before', 'after', 'next']);
});

onServer('breaks a connection on which a statement waits in vain, and no idle one', async (t) => {
  const proxy = await DatabaseProxy.open(t, (await databaseOf('stalled')) ?? '');
  t.teardown(() => dropDatabase('stalled'));
  const connect = async () => {
    const { connection } = (await createConnection(proxy.url)) as unknown as { connection: MysqlConnection };
    endWhenStalled(connection, 300);
    return connection;
  };
  const [waits, idle] = [await connect(), await connect()];
  await execute(idle, 'SELECT 1');
  proxy.freeze();
  const error = await t.throwsAsync(execute(waits, 'SELECT 1'));
  t.is(classify(error), 'away');
  proxy.thaw();
  await t.notThrowsAsync(execute(idle, 'SELECT 1'));
});

onServer('refuses writes after another panel took the database', async (t) => {
  const { world, add, names } = await open();
  await using _ = world;
  const url = (await databaseOf(world.folder)) ?? '';
  await add('mine');
  // What comes first after the cut is the other panel: it holds the lock by then.
  const other = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(() => rm(other, { recursive: true, force: true }));
  await cut(world.folder);
  const { world: usurper, add: addTheirs } = await open({ folder: other, env: { WEIR_DATABASE_URL: url } });
  try {
    await addTheirs('theirs');
    const held = await t.throwsAsync(add('mine too'), { message: /another panel uses the database/ });
    t.regex((held.cause as Error).message, /another panel holds it/);
    await until(
      () =>
        names().then(
          () => true,
          () => false,
        ),
      'reading works again',
    );
    t.deepEqual(await names(), ['mine', 'theirs']);
  } finally {
    await usurper.kernel.stop('test');
  }
  // The other one is gone, but what it wrote this one does not know of.
  const late = await t.throwsAsync(add('mine again'), { message: /restart this one/ });
  t.regex((late.cause as Error).message, /another panel has held the database meanwhile .*restart this one/);
  t.deepEqual(await names(), ['mine', 'theirs']);
});
