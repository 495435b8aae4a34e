import { AsyncLocalStorage } from 'node:async_hooks';
import test from 'ava';
import { KeyedQueue, SerialQueue } from '../serial-queue.js';

function latch() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
const idle = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('work runs one after another, in the order it was asked for', async (t) => {
  const queue = new SerialQueue();
  const story: string[] = [];
  const gate = latch();
  const first = queue.run(async () => {
    story.push('first begins');
    await gate.promise;
    story.push('first ends');
    return 1;
  });
  const second = queue.run(() => {
    story.push('second');
    return 2;
  });
  await idle();
  t.deepEqual(story, ['first begins']);
  gate.resolve();
  t.deepEqual(await Promise.all([first, second]), [1, 2]);
  t.deepEqual(story, ['first begins', 'first ends', 'second']);
});

test('never starts work within the call that queues it', async (t) => {
  const queue = new SerialQueue();
  let began = false;
  const turn = queue.run(() => (began = true));
  t.false(began);
  await turn;
  t.true(began);
});

test('a failure rejects only its own call, and the next function runs', async (t) => {
  const queue = new SerialQueue();
  const rejects = queue.run(() => Promise.reject(new Error('no flour')));
  const throws = queue.run(() => {
    throw new Error('no oven');
  });
  const next = queue.run(() => 'bread');
  await t.throwsAsync(rejects, { message: 'no flour' });
  await t.throwsAsync(throws, { message: 'no oven' });
  t.is(await next, 'bread');
});

test('settled waits for queued work, failures included, and for nothing else', async (t) => {
  const queue = new SerialQueue();
  await queue.settled();
  const gate = latch();
  const failing = queue.run(async () => {
    await gate.promise;
    throw new Error('burnt');
  });
  let isSettled = false;
  const settled = queue.settled().then(() => (isSettled = true));
  await idle();
  t.false(isSettled);
  gate.resolve();
  await t.throwsAsync(failing);
  await settled;
  t.true(isSettled);
});

test('runs work in the async context of its caller', async (t) => {
  const context = new AsyncLocalStorage<string>();
  const queue = new SerialQueue();
  const gate = latch();
  const ada = context.run('ada', () => queue.run(() => gate.promise.then(() => context.getStore())));
  const bob = context.run('bob', () => queue.run(() => context.getStore()));
  gate.resolve();
  t.deepEqual(await Promise.all([ada, bob]), ['ada', 'bob']);
});

test('work under one key is serial, and under different keys it is not', async (t) => {
  const queues = new KeyedQueue<number>();
  const story: string[] = [];
  const gate = latch();
  const slow = queues.run(1, async () => {
    await gate.promise;
    story.push('1a');
  });
  const behind = queues.run(1, () => void story.push('1b'));
  await queues.run(2, () => void story.push('2'));
  t.deepEqual(story, ['2']);
  t.is(queues.size, 1);
  gate.resolve();
  await Promise.all([slow, behind]);
  t.deepEqual(story, ['2', '1a', '1b']);
});

test('drops a key without work, also after a failure', async (t) => {
  const queues = new KeyedQueue<string>();
  await t.throwsAsync(queues.run('a', () => Promise.reject(new Error('no'))));
  t.is(queues.size, 0);
  t.is(await queues.run('a', () => 'again'), 'again');
  t.is(queues.size, 0);
});
