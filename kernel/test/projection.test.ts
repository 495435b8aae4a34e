// Memory that follows the database: it is never wrong, whatever fails on the way.
import test from 'ava';
import {
  after,
  column,
  type Database,
  definePlugin,
  type Projection,
  singleton,
  table,
  tap,
  type Tx,
} from '../index.js';
import { World } from './world.js';
import { random as seeded } from '../../test/harness/random.js';

const afterCount = after<string>('counter/afterCount');
type Counts = Map<string, number>;
interface Change {
  readonly name: string;
  readonly by: number;
}

/** A plugin that counts under names, and what goes wrong with its memory. */
async function open() {
  const wrong = { apply: 0, load: 0 };
  const slow: { apply?: Promise<void> } = {};
  const inner: { db?: Database; counts?: Projection<Counts, Change> } = {};
  class Counter {
    constructor({ db }: { db: Database }) {
      inner.db = db;
      inner.counts = db.projection<Counts, Change>({
        load: async () => {
          if (wrong.load-- > 0) throw new Error('cannot be read');
          const rows = await db.query<{ name: string; count: number }>('SELECT name, count FROM counts');
          return new Map(rows.map(({ name, count }) => [name, count]));
        },
        apply: async (counts, { name, by }) => {
          await slow.apply;
          if (wrong.apply-- > 0) throw new Error('cannot be brought in');
          counts.set(name, (counts.get(name) ?? 0) + by);
        },
      });
    }
  }
  const startedWith: number[] = [];
  const hook: { hears?: (name: string) => void } = {};
  const plugin = definePlugin({
    name: 'counter',
    version: '1.0.0',
    api: 1,
    about: 'Counts.',
    tables: { counts: table('counts', { name: column.key(), count: column.integer() }) },
    migrations: [
      {
        name: '0001-counts',
        up: ({ integer }) => [
          `CREATE TABLE counts (name VARCHAR(64) PRIMARY KEY, count ${integer} NOT NULL)`,
          "INSERT INTO counts (name, count) VALUES ('a', 10)",
        ],
      },
    ],
    services: { counter: singleton(Counter) },
    hooks: [afterCount],
    taps: () => [tap(afterCount, (name) => hook.hears?.(name))],
    start: () => void startedWith.push(inner.counts?.state.get('a') ?? -1),
  });
  const world = await World.boot([plugin]);
  const { db, counts } = inner;
  if (!db || !counts) throw new Error('the plugin did not start');
  const add = (name: string, by: number, fail = false) =>
    db.write(async (tx) => {
      const changed = await tx.change('UPDATE counts SET count = count + :by WHERE name = :name', {
        name,
        by,
      });
      if (changed === 0) await tx.run('INSERT INTO counts (name, count) VALUES (:name, :by)', { name, by });
      tx.after(afterCount, name);
      tx.apply(counts, { name, by });
      if (fail) throw new Error('changed my mind');
    });
  return { world, db, counts, add, wrong, slow, startedWith, hook };
}

test('loads before the start, and has each change when its write resolves', async (t) => {
  const { world, counts, add, startedWith } = await open();
  await using _ = world;
  t.deepEqual(startedWith, [10]);
  await add('a', 5);
  await add('b', 1);
  t.deepEqual(
    [...counts.state],
    [
      ['a', 15],
      ['b', 1],
    ],
  );
  await t.throwsAsync(add('a', 100, true), { message: 'changed my mind' });
  t.is(counts.state.get('a'), 15, 'what was rolled back is not in it');
});

test('after hooks find the change in it, whatever the order of the calls', async (t) => {
  const { world, counts, add, hook } = await open();
  await using _ = world;
  const found: (number | undefined)[] = [];
  hook.hears = (name) => void found.push(counts.state.get(name));
  await add('a', 5);
  await add('b', 1);
  t.deepEqual(found, [15, 1]);
});

test('a change that comes after its write is refused', async (t) => {
  const { world, db, counts } = await open();
  await using _ = world;
  const kept: { tx?: Tx } = {};
  await db.write(async (tx) => void (kept.tx = tx));
  t.throws(() => kept.tx?.apply(counts, { name: 'a', by: 1 }), {
    message: 'apply is called with a tx that is over',
  });
});

test('a fresh state comes from the database, so tests see a change that was not brought in', async (t) => {
  const { world, db, counts } = await open();
  await using _ = world;
  await db.write((tx) => tx.run("UPDATE counts SET count = 99 WHERE name = 'a'"));
  t.is(counts.state.get('a'), 10);
  t.is((await counts.fresh()).get('a'), 99);
});

test('loads the state again before the write resolves if apply throws', async (t) => {
  const { world, counts, add, wrong } = await open();
  await using _ = world;
  wrong.apply = 1;
  await add('a', 5);
  t.is(counts.state.get('a'), 15);
  t.is(world.log.filter(({ msg }) => msg.startsWith('a projection no longer matches')).length, 1);
});

test('counts writes during a load once', async (t) => {
  const { world, counts, add, wrong, slow } = await open();
  await using _ = world;
  let go: () => void = () => undefined;
  slow.apply = new Promise((resolve) => (go = resolve));
  wrong.apply = 1;
  const first = add('a', 1);
  // Both are in the database before the state is loaded again, and are delivered after that.
  const others = [add('a', 2), add('b', 4)];
  await new Promise((resolve) => setTimeout(resolve, 50));
  go();
  await Promise.all([first, ...others]);
  t.deepEqual(counts.state, await counts.fresh());
  t.deepEqual([...counts.state].sort(), [
    ['a', 13],
    ['b', 4],
  ]);
});

test('throws 503 while the load fails, and loads again at its next use', async (t) => {
  const { world, counts, add, wrong } = await open();
  await using _ = world;
  Object.assign(wrong, { apply: 1, load: 2 });
  await add('a', 5);
  t.throws(() => counts.state, { name: 'PanelError', message: /the plugin counter is reading its data/ });
  // That use began to load it; here it fails for the second time, and the one after that does not.
  await t.throwsAsync(counts.load(), { message: 'cannot be read' });
  t.throws(() => counts.state, { message: /try again/ });
  t.is((await counts.load()).get('a'), 15);
  t.is(counts.state.get('a'), 15);
});

test('loads again at the next change', async (t) => {
  const { world, counts, add, wrong } = await open();
  await using _ = world;
  Object.assign(wrong, { apply: 1, load: 1 });
  await add('a', 5);
  await add('a', 1);
  t.is(counts.state.get('a'), 16);
});

test('a plugin does not start if its state cannot be loaded', async (t) => {
  class Broken {
    constructor({ db }: { db: Database }) {
      db.projection({ load: () => Promise.reject(new Error('no such table')), apply: () => undefined });
    }
  }
  const plugin = definePlugin({
    name: 'broken',
    version: '1.0.0',
    api: 1,
    about: 'Has no table.',
    services: { broken: singleton(Broken) },
  });
  await t.throwsAsync(World.boot([plugin]), { message: /broken did not start: no such table/ });
});

test('after thousands of random changes, the state equals a fresh load', async (t) => {
  const { world, counts, add, wrong } = await open();
  await using _ = world;
  const { below: random } = seeded(7);
  for (let round = 0; round < 40; round++) {
    if (random(4) === 0) wrong.apply = 1;
    await Promise.all(
      Array.from({ length: 25 }, () =>
        add(`n${random(9)}`, random(100), random(10) === 0).catch(() => undefined),
      ),
    );
  }
  t.deepEqual([...counts.state].sort(), [...(await counts.fresh())].sort());
});
