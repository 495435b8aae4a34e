import { AsyncLocalStorage } from 'node:async_hooks';
import test from 'ava';
import { EventQueue } from '../event-queue.js';
import { latch } from '../../kernel/test/world.js';

function queue() {
  const errors: unknown[] = [];
  let overflows = 0;
  return {
    queue: new EventQueue(
      (error) => errors.push(error),
      () => void overflows++,
    ),
    errors,
    overflows: () => overflows,
  };
}

test('delivers later, one after another, in order', async (t) => {
  const { queue: events } = queue();
  const story: string[] = [];
  for (const name of ['a', 'b'])
    events.push(
      async () => (story.push(`${name} begins`), await Promise.resolve(), void story.push(`${name} ends`)),
      undefined,
    );
  t.deepEqual(story, []);
  await events.settled();
  t.deepEqual(story, ['a begins', 'a ends', 'b begins', 'b ends']);
});

test('delivers what is pushed meanwhile before it settles', async (t) => {
  const { queue: events } = queue();
  const story: string[] = [];
  events.push(() => events.push(() => void story.push('inner'), undefined), undefined);
  await events.settled();
  t.deepEqual(story, ['inner']);
});

test('settles an empty queue at once', async (t) => {
  await t.notThrowsAsync(queue().queue.settled());
});

test('reports failures, also of the missed callback, and continues', async (t) => {
  const { queue: events, errors, overflows } = queue();
  const hold = latch();
  const story: string[] = [];
  events.push(() => hold.opened, undefined);
  await Promise.resolve();
  const missed = () => Promise.reject(new Error('missed and failed'));
  events.push(() => Promise.reject(new Error('failed')), missed);
  for (let i = 0; i < 1200; i++) events.push(() => void story.push('heard'), missed);
  hold.open();
  await events.settled();
  t.deepEqual(
    errors.map((error) => (error as Error).message),
    ['failed', 'missed and failed'],
  );
  t.is(story.length, 999);
  t.is(overflows(), 1);
});

test('reports each overflow once, and a later one again', async (t) => {
  const { queue: events, overflows } = queue();
  const calls: string[] = [];
  for (let round = 1; round <= 2; round++) {
    for (let i = 0; i < 1500; i++)
      events.push(
        () => undefined,
        () => void calls.push('a'),
      );
    await events.settled();
    t.is(overflows(), round);
  }
});

test('calls a listener without an async context', async (t) => {
  const storage = new AsyncLocalStorage<string>();
  const { queue: events } = queue();
  const seen: unknown[] = [];
  storage.run('a write', () => events.push(() => void seen.push(storage.getStore()), undefined));
  await events.settled();
  t.deepEqual(seen, [undefined]);
});
