// The database is full: callers are told, the log has two lines, and no plugin is at fault.
import test from 'ava';
import { type Database, event, job, message, route, tap } from '../index.js';
import { onSqlite } from '../../test/harness/database.js';
import { bare, people, until, World } from './world.js';

const BEGINS = 'the database fails; nothing can be saved until it works again';
const ENDS = 'the database works again';
const noted = event<number>('notes/noted');

async function open() {
  const inner: { db?: Database } = {};
  const store = (): Promise<void> =>
    (inner.db as Database).write((tx) =>
      tx.run('INSERT INTO notes (text) VALUES (:text)', { text: 'x'.repeat(100_000) }),
    );
  const notes = bare('notes', {
    hooks: [noted],
    migrations: [
      { name: '0001-notes', up: ({ id, text }) => [`CREATE TABLE notes (id ${id}, text ${text})`] },
    ],
    start: ({ db }) => void (inner.db = db),
    taps: () => [tap(noted, store)],
    jobs: () => [job('note', '1h', store)],
    routes: ({ hooks }) => [
      route({
        method: 'POST',
        path: '/notes',
        auth: 'anyone',
        doc: 'Stores a note.',
        reply: message(),
        handle: () => (hooks.emit(noted, 1), store()),
      }),
    ],
  });
  const world = await World.boot([people, notes]);
  const limit = (pages: string) =>
    (inner.db as Database).write(async (tx) => void (await tx.query(`PRAGMA max_page_count = ${pages}`)));
  return { world, fill: () => limit('1'), free: () => limit('1000000') };
}

const onFile = onSqlite ? test : () => undefined;

onFile(
  'a full database is told to callers and to watchdogs, logged once, and nobody is at fault',
  async (t) => {
    const { world, fill, free } = await open();
    await using _ = world;
    const store = () => world.call('/notes', { method: 'POST', body: {} });
    const health = () => world.call('/healthz');
    t.is((await store()).status, 200);
    await fill();
    for (let i = 0; i < 25; i++) {
      const { status, body } = await store();
      t.deepEqual([status, body.code], [507, 'KERNEL_STORAGE']);
      t.regex(body.msg, /nothing was saved; free space on it/);
    }
    await world.kernel.settled();
    const { status, body } = await health();
    t.deepEqual([status, body.code], [503, 'KERNEL_DEGRADED']);
    t.notRegex(body.msg, /database|disk|full|sqlite/i);
    t.deepEqual(world.faults(), []);
    t.deepEqual(
      world.kernel.plugins().map(({ state }) => state),
      ['running', 'running'],
    );
    // A slow machine also says how long a write took.
    const lines = () =>
      world.log.filter(
        ({ level, msg }) => ['error', 'warn'].includes(level) && !msg.includes('held the database'),
      );
    t.deepEqual(
      lines().map(({ msg }) => msg),
      [BEGINS],
    );
    await free();
    // Nobody else writes.
    await until(async () => (await health()).status === 200, 'the panel finds out that it works again');
    t.is((await store()).status, 200);
    t.is(world.log.filter(({ msg }) => msg === ENDS).length, 1);
    t.is(lines().length, 1);
  },
);
