// The queue of a channel without a panel: what a full memory does.
import test from 'ava';
import type { Contributed } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { until } from '../../../test/harness/until.js';
import { ChannelCaller } from '../channels/channel-caller.js';
import { ChannelQueue } from '../channels/channel-queue.js';
import type { Channel, Severity } from '../contract.js';
import type { Delivery } from '../deliveries/delivery.js';
import type { DeliveryStore } from '../deliveries/delivery-store.js';

const NOW = new FakeClock().now();
const deliveryOf = (id: number, severity: Severity = 'info'): Delivery => ({
  ...{ id, channel: 'c', client: undefined, state: 'waiting', attempts: 0, queuedAt: NOW, attemptedAt: 0 },
  ...{ nextAt: 0, problem: '' },
  notification: { id: String(id), event: 'e', severity, at: 1, title: 't', text: 'x', data: {} },
});

/** A queue whose channel takes one notification for each call of `release`; the log is in memory. */
function queueOf(inLog = 0, fails: (id: number) => boolean = () => false) {
  const sent: number[] = [];
  let release = (): void => undefined;
  const value: Channel = {
    name: 'c',
    isOn: () => true,
    send: ({ id }) =>
      new Promise((resolve, reject) => {
        if (fails(Number(id))) return reject(new Error('no'));
        sent.push(Number(id));
        release = resolve;
      }),
  };
  const stop = new AbortController();
  const log = new Map<number, Delivery>();
  const store = {
    isFailing: false,
    sends: true,
    save: (delivery: Delivery) => void log.set(delivery.id, { ...delivery }),
    flush: async () => undefined,
    waiting: async (_: string, limit: number) =>
      [...log.values()]
        .filter(({ state }) => state === 'waiting')
        .sort((a, b) => a.id - b.id)
        .slice(0, limit)
        .map((delivery) => ({ ...delivery })),
  };
  const queue = new ChannelQueue({
    caller: new ChannelCaller(
      { plugin: 'p', value, fault: () => undefined } as Contributed<Channel>,
      stop.signal,
    ),
    store: store as unknown as DeliveryStore,
    clock: new FakeClock(),
    log: { warn: () => undefined, error: () => undefined } as never,
    stop: stop.signal,
    inLog,
  });
  return { queue, store, log, sent, stop, release: () => release() };
}

test('a critical one does not wait until half of a full memory is sent, and what it replaces is sent later', async (t) => {
  const { queue, sent, log, release, stop } = queueOf();
  for (let id = 1; id <= 500; id++) queue.push(deliveryOf(id));
  await until(() => sent.length === 1, 'the first attempt');
  queue.push(deliveryOf(501, 'critical'));
  t.is(queue.size, 501);
  release();
  await until(() => sent.length === 2, 'the next one');
  t.is(sent[1], 501);
  for (let count = 2; count <= 501; count++) {
    await until(() => sent.length === count, `number ${count}`);
    release();
  }
  await until(() => [...log.values()].every(({ state }) => state === 'delivered'), 'all are delivered');
  t.is(new Set(sent).size, 501);
  t.is(sent.length, 501, 'none twice');
  stop.abort();
});

test('one that was read from the log is not queued once more', async (t) => {
  const { queue, store, sent, release } = queueOf(1);
  const stored = deliveryOf(1);
  store.save(stored);
  queue.kick();
  await until(() => sent.length === 1, 'it is read and sent');
  queue.push(stored, true);
  t.is(queue.size, 1);
  release();
  await queue.settled();
  t.deepEqual([sent, queue.size], [[1], 0]);
});

test('a channel pauses after three failures in a row, and one that works between ends the row', async (t) => {
  const { queue, sent, release } = queueOf(0, (id) => id !== 3);
  for (const id of [1, 2, 3, 4]) queue.push(deliveryOf(id));
  await until(() => sent.length === 1, 'the third one');
  release();
  await queue.settled();
  t.is(queue.lastProblem, 'no', 'the fourth one failed');
  t.is(queue.pausedUntil, 0);
  for (const id of [5, 6]) queue.push(deliveryOf(id));
  await queue.settled();
  t.true(queue.pausedUntil > NOW);
});

test('beyond 10,000 they are dropped, critical ones beyond 20,000, and the log has that', (t) => {
  const at = (inLog: number, severity: Severity) => {
    const { queue, log } = queueOf(inLog);
    queue.push(deliveryOf(1, severity));
    return log.get(1)?.state;
  };
  t.deepEqual([at(9_999, 'warning'), at(10_000, 'warning')], ['waiting', 'dropped']);
  t.deepEqual([at(10_000, 'critical'), at(20_000, 'critical')], ['waiting', 'dropped']);
});

test('while the database fails, a severe one takes the place of another, and the least severe is dropped', async (t) => {
  const { queue, store, log } = queueOf();
  store.isFailing = true;
  for (let id = 1; id <= 500; id++) queue.push(deliveryOf(id, 'warning'));
  queue.push(deliveryOf(501, 'critical'));
  queue.push(deliveryOf(502, 'info'));
  t.deepEqual([log.get(500)?.state, log.get(502)?.state], ['dropped', 'dropped']);
  t.deepEqual([queue.get(501)?.state, queue.get(500), queue.size], ['waiting', undefined, 500]);
});
