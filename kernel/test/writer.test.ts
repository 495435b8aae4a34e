// Runs on every database.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test, { type ExecutionContext } from 'ava';
import {
  after,
  column,
  type Database,
  definePlugin,
  event,
  type Hooks,
  type Migration,
  table,
  tap,
  type Tx,
} from '../index.js';
import { connect } from '../database/connect.js';
import { Database as PluginDatabase } from '../database/database.js';
import { Writer } from '../database/writer.js';
import { HookRegistry } from '../hooks/registry.js';
import { createLog } from '../../panel/log.js';
import type { TapFunction } from '../hooks/kinds.js';
import { databaseOf } from '../../test/harness/database.js';
import { bare, latch, until, World } from './world.js';

const afterNote = after<string>('notes/afterNote');
const noted = event<string>('notes/noted');
const migrations: readonly Migration[] = [
  {
    name: '0001-notes',
    up: ({ id, dialect }) => [
      `CREATE TABLE notes (id ${id}, text VARCHAR(64) NOT NULL UNIQUE)`,
      `CREATE TABLE marks (id ${id}, note_id BIGINT NOT NULL, FOREIGN KEY (note_id) REFERENCES notes (id) ${dialect === 'sqlite' ? 'DEFERRABLE INITIALLY DEFERRED' : ''})`,
    ],
  },
];
const tables = { notes: table('notes', { id: column.id(), text: column.text() }) };

interface Listening {
  readonly after?: TapFunction<typeof afterNote>;
  readonly event?: TapFunction<typeof noted>;
}

/** A plugin with one table, and one that listens to it. */
async function open(listening: Listening = {}) {
  const inner: {
    db?: Database;
    hooks?: Hooks;
    other?: Database;
    notes?: { create(row: { text: string }, options: { transaction: Tx['t'] }): Promise<unknown> };
  } = {};
  const notes = definePlugin({
    name: 'notes',
    version: '1.0.0',
    api: 1,
    about: 'Keeps notes.',
    hooks: [afterNote, noted],
    tables,
    migrations,
    start: ({ db, hooks, tables: models }) => void Object.assign(inner, { db, hooks, notes: models.notes }),
  });
  const listener = bare('listener', {
    taps: () => [
      ...(listening.after ? [tap(afterNote, listening.after)] : []),
      ...(listening.event ? [tap(noted, listening.event)] : []),
    ],
    start: ({ db }) => void (inner.other = db),
  });
  const world = await World.boot([notes, listener]);
  const { db, hooks, other, notes: model } = inner;
  if (!db || !hooks || !other || !model) throw new Error('the plugins did not start');
  return {
    world,
    db,
    hooks,
    other,
    model,
    texts: async () =>
      (await db.query<{ text: string }>('SELECT text FROM notes ORDER BY id')).map(({ text }) => text),
  };
}
const add = (tx: Tx, text: string) => tx.run('INSERT INTO notes (text) VALUES (:text)', { text });

test('fifty overlapping writes succeed in the order of their calls', async (t) => {
  const { world, db, model, texts } = await open();
  await using _ = world;
  const names = Array.from({ length: 50 }, (_unused, i) => `n${i}`);
  const results = await Promise.all(
    names.map((text, i) =>
      db.write(
        async (tx) => (i % 2 ? await add(tx, text) : await model.create({ text }, { transaction: tx.t }), i),
      ),
    ),
  );
  t.deepEqual(
    results,
    names.map((_unused, i) => i),
  );
  t.deepEqual(await texts(), names);
});

test('a write that throws leaves no rows, calls no hooks, and the next one works', async (t) => {
  const heard: string[] = [];
  const { world, db, texts } = await open({
    after: (text) => void heard.push(`after ${text}`),
    event: (text) => void heard.push(`event ${text}`),
  });
  await using _ = world;
  const failing = db.write(async (tx) => {
    await add(tx, 'lost');
    tx.after(afterNote, 'lost');
    tx.emit(noted, 'lost');
    throw new Error('changed my mind');
  });
  await t.throwsAsync(failing, { message: 'changed my mind' });
  await db.write(async (tx) => {
    await add(tx, 'kept');
    tx.emit(noted, 'kept');
    tx.after(afterNote, 'kept');
  });
  await world.kernel.settled();
  t.deepEqual(await texts(), ['kept']);
  t.deepEqual(heard, ['after kept', 'event kept']);
});

test('a write whose commit fails leaves no rows and calls no hooks', async (t) => {
  const heard: string[] = [];
  const { world, db, texts } = await open({ after: (text) => void heard.push(text) });
  await using _ = world;
  await t.throwsAsync(
    db.write(async (tx) => {
      await add(tx, 'lost');
      await tx.run('INSERT INTO marks (note_id) VALUES (999)');
      tx.after(afterNote, 'lost');
    }),
    { message: /FOREIGN KEY/ },
  );
  await db.write((tx) => add(tx, 'kept'));
  t.deepEqual(await texts(), ['kept']);
  t.deepEqual(heard, []);
});

test('a write inside a write fails with both names, and the outer one can continue', async (t) => {
  const { world, db, other, texts } = await open();
  await using _ = world;
  const inner = await db.write(async (tx) => {
    const error = await t.throwsAsync(other.write((deeper) => add(deeper, 'inner')));
    await add(tx, 'outer');
    return error.message;
  });
  t.regex(inner, /write of listener .* inside a write of notes/);
  t.deepEqual(await texts(), ['outer']);
});

test('work after the end of its transaction fails and never joins the next one', async (t) => {
  const { world, db, model, texts } = await open();
  await using _ = world;
  const kept: { tx?: Tx } = {};
  await db.write(async (tx) => {
    kept.tx = tx;
    await add(tx, 'in time');
  });
  const tx = kept.tx as Tx;
  await db.write(async (next) => {
    await t.throwsAsync(add(tx, 'late'));
    await t.throwsAsync(model.create({ text: 'late too' }, { transaction: tx.t }));
    await t.throwsAsync(tx.query('SELECT 1'));
    await add(next, 'next');
  });
  t.deepEqual(await texts(), ['in time', 'next']);
});

test('work that outlives a write that failed fails too', async (t) => {
  const { world, db, texts } = await open();
  await using _ = world;
  const kept: { tx?: Tx } = {};
  await t.throwsAsync(db.write(async (tx) => ((kept.tx = tx), Promise.reject(new Error('no')))));
  const tx = kept.tx as Tx;
  await t.throwsAsync(add(tx, 'late'));
  t.throws(() => tx.after(afterNote, 'late'), { message: /called with a tx that is over/ });
  t.deepEqual(await texts(), []);
});

test('a statement without await is in its own transaction or fails', async (t) => {
  const { world, db, texts } = await open();
  await using _ = world;
  const stray: Promise<string>[] = [];
  for (let i = 0; i < 20; i++) {
    await db.write(
      async (tx) =>
        void stray.push(
          add(tx, `stray${i}`).then(
            () => 'written',
            () => 'refused',
          ),
        ),
    );
    await t.throwsAsync(
      db.write(async (tx) => {
        await tx.query('SELECT 1');
        throw new Error('rolled back');
      }),
    );
  }
  const fates = await Promise.all(stray);
  // What was acknowledged must be there: a stray statement in the next, rolled back transaction would be gone.
  t.deepEqual(
    await texts(),
    fates.flatMap((fate, i) => (fate === 'written' ? [`stray${i}`] : [])),
  );
});

test('reads see only committed rows; the write also sees its own', async (t) => {
  const { world, db, texts } = await open();
  await using _ = world;
  const written = latch();
  const finish = latch();
  const write = db.write(async (tx) => {
    await add(tx, 'not yet');
    written.open();
    await finish.opened;
    return tx.query<{ text: string }>('SELECT text FROM notes');
  });
  await written.opened;
  t.deepEqual(await texts(), []);
  finish.open();
  t.deepEqual(await write, [{ text: 'not yet' }]);
  t.deepEqual(await texts(), ['not yet']);
});

test('after hooks run in the order of the commits, even when an earlier one is slow, and each write waits for its own', async (t) => {
  const slow = latch();
  const order: string[] = [];
  const { world, db, texts } = await open({
    after: async (text) => {
      if (text === 'a') await slow.opened;
      order.push(`after ${text}`);
    },
  });
  await using _ = world;
  const write = (text: string) =>
    db
      .write(async (tx) => (await add(tx, text), tx.after(afterNote, text)))
      .then(() => order.push(`resolved ${text}`));
  const first = write('a');
  const second = write('b');
  // b is committed while the hooks of a still run: a slow hook does not hold the database.
  await until(async () => (await texts()).length === 2, 'both writes are committed');
  t.deepEqual(order, []);
  slow.open();
  await Promise.all([first, second]);
  t.true(order.indexOf('after a') < order.indexOf('after b'));
  t.true(order.indexOf('after a') < order.indexOf('resolved a'));
  t.true(order.indexOf('after b') < order.indexOf('resolved b'));
});

test('keeps the order of hooks when a write between two others fails', async (t) => {
  const slow = latch();
  const order: string[] = [];
  const { world, db, texts } = await open({
    after: async (text) => {
      if (text === 'a') await slow.opened;
      order.push(text);
    },
  });
  await using _ = world;
  const write = (text: string) => db.write(async (tx) => (await add(tx, text), tx.after(afterNote, text)));
  const first = write('a');
  await t.throwsAsync(db.write(() => Promise.reject(new Error('no'))));
  const third = write('c');
  await until(async () => (await texts()).length === 2, 'both good writes are committed');
  t.deepEqual(order, []);
  slow.open();
  await Promise.all([first, third]);
  t.deepEqual(order, ['a', 'c']);
});

test('an after hook cannot write and gets an error; the write still succeeds', async (t) => {
  const inner: { db?: Database } = {};
  const { world, db, other, texts } = await open({
    after: (text) => inner.db?.write((tx) => add(tx, `echo of ${text}`)),
  });
  await using _ = world;
  inner.db = other;
  await db.write(async (tx) => (await add(tx, 'a'), tx.after(afterNote, 'a')));
  t.deepEqual(await texts(), ['a']);
  t.regex(
    world.faults().join(),
    /notes\/afterNote of listener.*write of listener was opened in an after hook of a write of notes/,
  );
});

test('a listener of an event can write, wherever the event came from', async (t) => {
  const inner: { db?: Database } = {};
  const { world, db, hooks, other, texts } = await open({
    event: (text) => inner.db?.write((tx) => add(tx, `echo of ${text}`)),
    after: () => hooks.emit(noted, 'c'),
  });
  await using _ = world;
  inner.db = other;
  await db.write(async (tx) => (await add(tx, 'a'), tx.emit(noted, 'a')));
  await world.kernel.settled();
  await db.write(async (tx) => {
    hooks.emit(noted, 'b');
    await add(tx, 'plain');
    tx.after(afterNote, '');
  });
  await world.kernel.settled();
  t.deepEqual(world.faults(), []);
  t.deepEqual((await texts()).sort(), ['a', 'echo of a', 'echo of b', 'echo of c', 'plain']);
});

test('work that a write started can write after the write', async (t) => {
  const { world, db, texts } = await open();
  await using _ = world;
  const over = latch();
  const later = await db.write(async () => ({
    written: over.opened.then(() => db.write((tx) => add(tx, 'later'))),
  }));
  over.open();
  await later.written;
  t.deepEqual(await texts(), ['later']);
});

test('functions with I/O throw inside a write, by name, and run in after hooks', async (t) => {
  const inner: { db?: Database } = {};
  const { world, db } = await open({ after: () => inner.db?.refuseInsideWrite('a call to the outside') });
  await using _ = world;
  inner.db = db;
  t.notThrows(() => db.refuseInsideWrite('a call'));
  await db.write(async (tx) => {
    t.throws(() => db.refuseInsideWrite('a call'), { message: /a call inside a write of notes/ });
    tx.after(afterNote, '');
  });
  t.deepEqual(world.faults(), []);
});

test('a stop waits for the writes that were accepted and refuses later ones', async (t) => {
  const { world, db } = await open();
  await using _ = world;
  const finish = latch();
  const begun = latch();
  const write = db.write(async (tx) => (begun.open(), await finish.opened, await add(tx, 'last')));
  await begun.opened;
  const stopped = world.kernel.stop('test');
  finish.open();
  await Promise.all([write, stopped]);
  await t.throwsAsync(
    db.write((tx) => add(tx, 'too late')),
    { message: /write of notes came after the database was closed/ },
  );
  const connections = await connect(await databaseOf(world.folder), world.folder);
  t.deepEqual((await connections.sequelize.query('SELECT text FROM notes'))[0], [{ text: 'last' }]);
  await connections.close();
});

/** A writer as production has it, except that it loses patience sooner. */
async function unwatched(t: ExecutionContext, patienceMs: number) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  const connections = await connect(await databaseOf(folder), folder);
  t.teardown(async () => (await connections.close(), await rm(folder, { recursive: true, force: true })));
  const registry = new HookRegistry();
  registry.declare('notes', [afterNote]);
  const words: string[] = [];
  const writer = new Writer(
    connections,
    registry,
    createLog({ level: 'error', readable: false, write: (line) => void words.push(line) }),
    {
      selfChecks: false,
      patienceMs,
    },
  );
  const db = new PluginDatabase(connections, writer, 'notes');
  await db.write((tx) => tx.run(`CREATE TABLE notes (id ${connections.types.id}, text VARCHAR(64))`));
  const hear = (fn: TapFunction<typeof afterNote>) =>
    registry.add(
      {
        name: 'listener',
        about: '',
        isOff: false,
        offReason: '',
        fault: (where, error) => void words.push(`${where}: ${(error as Error).message}`),
        queue: undefined as never,
      },
      tap(afterNote, fn),
    );
  return {
    db,
    writer,
    words,
    hear,
    texts: async () =>
      (await db.query<{ text: string }>('SELECT text FROM notes ORDER BY id')).map(({ text }) => text),
  };
}

test('without async tracking, a write inside a write fails with a message', async (t) => {
  const { db, texts } = await unwatched(t, 200);
  const message = await db.write(async (tx) => {
    const error = await t.throwsAsync(db.write((inner) => add(inner, 'inner')));
    await add(tx, 'outer');
    return error.message;
  });
  t.regex(message, /a write of notes waited 0.2 s behind a write of notes; .*pass its tx on/);
  await db.write((tx) => add(tx, 'next'));
  t.deepEqual(await texts(), ['outer', 'next']);
});

test('the writer is closed when the last write is delivered, not when it is committed', async (t) => {
  const { db, writer, hear, texts } = await unwatched(t, 4000);
  const slow = latch();
  const heard: string[] = [];
  hear(async (text) => (await slow.opened, void heard.push(text)));
  const write = db.write(async (tx) => (await add(tx, 'last'), tx.after(afterNote, 'last')));
  await until(async () => (await texts()).length === 1, 'it is committed');
  const closed = writer.close().then(() => heard.push('closed'));
  // Longer than any chain of promises takes.
  await texts();
  slow.open();
  await Promise.all([write, closed]);
  t.deepEqual(heard, ['last', 'closed']);
});

test('a write that gave up waiting lets none overtake the one that it waited for', async (t) => {
  const { db, texts } = await unwatched(t, 1000);
  const slow = latch();
  const first = db.write(async (tx) => (await add(tx, 'first'), await slow.opened));
  await t.throwsAsync(
    db.write((tx) => add(tx, 'second')),
    { message: /waited 1 s/ },
  );
  const third = db.write((tx) => add(tx, 'third'));
  t.deepEqual(await texts(), []);
  slow.open();
  await Promise.all([first, third]);
  t.deepEqual(await texts(), ['first', 'third']);
});

test('keeps a write waiting behind many others while they progress', async (t) => {
  const { db, texts } = await unwatched(t, 4000);
  const names = Array.from({ length: 20 }, (_unused, i) => `n${i}`);
  await Promise.all(names.map((text) => db.write(async (tx) => (await add(tx, text), await sleep(250)))));
  t.deepEqual(await texts(), names);
});

test('without async tracking, a write in an after hook is delayed and loses no rows or hooks', async (t) => {
  const { db, words, hear, texts } = await unwatched(t, 200);
  const heard: string[] = [];
  hear(async (text) => {
    if (text === 'a') await db.write(async (tx) => (await add(tx, 'b'), tx.after(afterNote, 'b')));
    heard.push(text);
  });
  await db.write(async (tx) => (await add(tx, 'a'), tx.after(afterNote, 'a')));
  t.deepEqual(await texts(), ['a', 'b']);
  t.deepEqual(heard, ['b', 'a']);
  t.regex(words.join(), /after hooks are stuck.*a write of notes waited/);
});

test('writes retain no memory', async (t) => {
  const { db } = await unwatched(t, 5000);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const payloads: WeakRef<object>[] = [];
  for (let i = 0; i < 20; i++) {
    const payload = { text: 'x'.repeat(10) };
    payloads.push(new WeakRef(payload));
    await db
      .write(async (tx) => (tx.after(afterNote as never, payload as never), payload))
      .then(() => undefined);
  }
  await until(
    () => (collect(), payloads.slice(0, -2).every((held) => held.deref() === undefined)),
    'what was written earlier is forgotten',
  );
  t.pass();
});
