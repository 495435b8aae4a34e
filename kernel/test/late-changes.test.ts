// What a plugin whose start is late receives of writes that happen meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { Database } from '../database/database.js';
import { after, tap } from '../hooks/kinds.js';
import { bare, latch, until, World } from './world.js';

const afterNote = after<string>('notes/afterNote');

async function boot(
  t: { teardown(fn: () => Promise<void>): void },
  start: () => Promise<void>,
  listen: (note: string) => Promise<void>,
) {
  const inner: { db?: Database } = {};
  const notes = bare('notes', { hooks: [afterNote], start: ({ db }) => void (inner.db = db) });
  const late = { ...bare('late', { start, taps: () => [tap(afterNote, listen)] }), outside: true };
  const world = await World.boot([notes, late], { limits: { slowStart: 20 } });
  t.teardown(() => world[Symbol.asyncDispose]());
  return {
    note: async (text: string) => inner.db?.write(async (tx) => tx.after(afterNote, text)),
    state: () => world.kernel.plugins().find(({ name }) => name === 'late')?.state,
  };
}

test('after taps receive the writes of a late start one after another, before those that follow', async (t) => {
  const start = latch();
  const heard: string[] = [];
  const { note, state } = await boot(
    t,
    () => start.opened,
    async (text) => {
      heard.push(`${text} begins`);
      if (text === 'first') await sleep(100);
      heard.push(`${text} ends`);
    },
  );
  await note('first');
  await note('second');
  t.deepEqual(heard, [], 'none of its code is called before it has started');
  start.open();
  await until(() => heard.length > 0, 'the first is delivered');
  await note('third');
  await until(() => heard.length === 6, 'all are delivered');
  t.deepEqual(
    heard,
    ['first', 'second', 'third'].flatMap((text) => [`${text} begins`, `${text} ends`]),
  );
  t.is(state(), 'running');
  await note('fourth');
  t.is(heard.at(-1), 'fourth ends', 'from now on a write waits for it');
});

test('after taps of a plugin that could not start are not called', async (t) => {
  const start = latch();
  const heard: string[] = [];
  const { note, state } = await boot(
    t,
    () => start.opened.then(() => Promise.reject(new Error('no ink'))),
    async (text) => void heard.push(text),
  );
  start.open();
  await until(() => state() === 'failed', 'the start has failed');
  await note('first');
  t.deepEqual(heard, []);
});
