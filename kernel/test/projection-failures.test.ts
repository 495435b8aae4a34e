// Runs on every database.
// Memory that follows the database, where the database or its plugin fails in the middle.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Connections, connect } from '../database/connect.js';
import { Database } from '../database/database.js';
import { Writer } from '../database/writer.js';
import type { PanelError } from '../errors/errors.js';
import { HookRegistry } from '../hooks/registry.js';
import { createLog } from '../../panel/log.js';
import { databaseOf, dropDatabase } from '../../test/harness/database.js';
import { until } from './world.js';

type Sent = (error: Error | null) => void;

/** Called with each COMMIT and ROLLBACK; says what answers in place of the database. */
type Intercept = (sql: 'COMMIT' | 'ROLLBACK', send: (done: Sent) => void, done: Sent) => void;

/** A writer as production has it, with little patience, whose connection `intercept` is in the way of. */
async function open(t: ExecutionContext, patienceMs = 10_000) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  const real = await connect(await databaseOf(folder), folder);
  t.teardown(async () => {
    await real.close();
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  const network: { intercept?: Intercept | undefined } = {};
  const connections: Connections = {
    ...real,
    begin: async () => {
      const connection = await real.begin();
      const name = 'exec' in connection ? 'exec' : 'query';
      const methods = connection as unknown as Record<string, (...args: unknown[]) => unknown>;
      delete methods[name];
      const { intercept } = network;
      const method = methods[name]?.bind(connection);
      if (intercept)
        methods[name] = (sql, ...rest) =>
          sql === 'COMMIT' || sql === 'ROLLBACK'
            ? intercept(sql, (done) => method?.(sql, done), rest.at(-1) as Sent)
            : method?.(sql, ...rest);
      return connection;
    },
  };
  const log: string[] = [];
  const writer = new Writer(
    connections,
    new HookRegistry(),
    createLog({ level: 'error', readable: false, write: (line) => void log.push(line) }),
    { selfChecks: false, patienceMs },
  );
  const db = new Database(real, writer, 'counter');
  await db.write((tx) => tx.run('CREATE TABLE counts (name VARCHAR(64) PRIMARY KEY, count BIGINT NOT NULL)'));
  const wrong: { apply?: () => unknown } = {};
  const counts = db.projection<Map<string, number>, string>({
    load: async () => {
      const rows = await db.query<{ name: string; count: number }>('SELECT name, count FROM counts');
      return new Map(rows.map(({ name, count }) => [name, count]));
    },
    apply: async (state, name) => {
      await wrong.apply?.();
      state.set(name, (state.get(name) ?? 0) + 1);
    },
  });
  await counts.load();
  const add = (name: string) =>
    db.write(async (tx) => {
      await tx.run('INSERT INTO counts (name, count) VALUES (:name, 1)', { name });
      tx.apply(counts, name);
    });
  return { db, counts, add, wrong, network, log };
}

test('a commit whose answer is lost is in memory if the database has it', async (t) => {
  const { counts, add, network } = await open(t);
  const lost: Intercept = (sql, send, done) => {
    if (sql === 'COMMIT') send(() => done(new Error('read ECONNRESET')));
    else done(new Error('the connection is closed'));
  };
  network.intercept = lost;
  await t.throwsAsync(add('a'), { message: /saved or not/ });
  network.intercept = undefined;
  const has = (name: string): boolean => {
    try {
      return counts.state.has(name);
    } catch {
      return false;
    }
  };
  await until(async () => has('a'), 'memory has what the database has');
  await add('b');
  t.deepEqual([...counts.state].sort(), [...(await counts.fresh())].sort());
});

test('a rollback that the database confirms leaves the state as it is', async (t) => {
  const { counts, add, network, log } = await open(t);
  network.intercept = (sql, send, done) => {
    if (sql === 'COMMIT') done(new Error('no'));
    else send(done);
  };
  await t.throwsAsync(add('a'), { message: 'no' });
  network.intercept = undefined;
  t.deepEqual([...counts.state], []);
  t.deepEqual(log, []);
});

test('a change that never comes to an end holds up other writes no longer than the patience, and is named', async (t) => {
  const { counts, add, wrong, log } = await open(t, 300);
  await add('first');
  wrong.apply = () => new Promise(() => undefined);
  void add('a');
  await until(async () => (await counts.fresh()).has('a'), 'it is committed');
  delete wrong.apply;
  await add('b');
  t.true(counts.state.has('b'));
  t.regex(log.join(''), /behind a write of counter/);
});

test('a write inside the bringing in of a change ends after the patience, and the next writes pass', async (t) => {
  const { db, counts, add, wrong } = await open(t, 300);
  wrong.apply = () => {
    delete wrong.apply;
    return db.write((tx) => tx.query('SELECT 1'));
  };
  await add('a');
  await add('b');
  t.deepEqual([...counts.state].sort(), [...(await counts.fresh())].sort());
});

test('a state that is asked for inside a write while it cannot be loaded fails that write alone', async (t) => {
  const { db, counts, add, wrong } = await open(t, 300);
  await add('a');
  await db.write((tx) => tx.run('ALTER TABLE counts RENAME TO away'));
  wrong.apply = () => {
    throw new Error('cannot be brought in');
  };
  await db.write(async (tx) => tx.apply(counts, 'a'));
  delete wrong.apply;
  await t.throwsAsync(
    db.write(async () => counts.state),
    { message: /is reading its data/ },
  );
  // Waiting for it inside a write would be waiting for the end of that write.
  await t.throwsAsync(
    db.write(() => counts.load()),
    { message: /waited 0.3 s behind a write of counter/ },
  );
  await db.write((tx) => tx.run('ALTER TABLE away RENAME TO counts'));
  await until(async () => (await counts.load()).has('a'), 'it is loaded again');
  await add('b');
  t.deepEqual([...counts.state].sort(), [...(await counts.fresh())].sort());
});

test('a tx that is over takes no change', async (t) => {
  const { db, counts } = await open(t);
  const late = await db.write(async (tx) => () => tx.apply(counts, 'late'));
  t.throws(late, { message: /apply is called with a tx that is over/ });
  t.deepEqual([...counts.state], []);
});

test('while nobody knows whether a commit is in the database, memory serves as it was, and writes that were planned with it fail', async (t) => {
  const { counts, add, network, db } = await open(t);
  await add('first');
  let fails = true;
  const query = db.query.bind(db);
  db.query = (...args) => (fails ? Promise.reject(new Error('still away')) : query(...args)) as never;
  network.intercept = (sql, send, done) => {
    if (sql === 'COMMIT') send(() => done(new Error('read ECONNRESET')));
    else done(new Error('the connection is closed'));
  };
  await t.throwsAsync(add('lost'), { message: /saved or not/ });
  network.intercept = undefined;
  t.deepEqual([...counts.state], [['first', 1]]);
  await t.throwsAsync(add('second'), { message: /still away/ });
  t.deepEqual([...counts.state], [['first', 1]]);
  fails = false;
  // Planned before memory has what the database has: a poll would count the same bytes again.
  await t.throwsAsync(add('lost'), { message: /nothing was saved/ });
  t.deepEqual([...counts.state.keys()].sort(), ['first', 'lost']);
  await add('third');
  t.deepEqual([...counts.state].sort(), [...(await counts.fresh())].sort());
});

test('behind a statement that the database does not answer, writes fail as with a database that is away', async (t) => {
  const { counts, add, network, log } = await open(t, 300);
  const answers: (() => void)[] = [];
  network.intercept = (_sql, send, done) => void answers.push(() => send(done));
  const slow = add('a');
  const { code } = await t.throwsAsync<PanelError>(add('b'));
  t.is(code, 'KERNEL_DATABASE_AWAY');
  t.is((await t.throwsAsync<PanelError>(add('c'))).code, 'KERNEL_DATABASE_AWAY');
  network.intercept = undefined;
  answers[0]?.();
  await slow;
  await add('d');
  t.deepEqual([...counts.state.keys()].sort(), ['a', 'd']);
  t.is(log.length, 1, 'one line');
});
