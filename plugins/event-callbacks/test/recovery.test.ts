// Runs on every database.
// What goes wrong around endpoints: a database that cannot be read, a clock that is set back, an id that is used again.
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { until } from '../../../test/harness/until.js';
import { EndpointWorker, type WorkerNeeds } from '../endpoint-worker.js';
import { bootWithEndpoints } from './endpoint-world.js';
import { tableHider } from './table-hider.js';
import { clientOf } from './receiver.js';

const PATH = '/panel/api/x/event-callbacks';
const DAY_MS = 86_400_000;

test('a database that cannot be read delays events, and does not lose them', async (t) => {
  const clock = new FakeClock();
  const hider = tableHider();
  await using world = await bootWithEndpoints({ clock, plugins: [hider.plugin] });
  const { panel, inbound, add } = world;
  const shop = await add((_, reply) => void reply.writeHead(500).end());
  await panel.addClient('ann', [inbound]);
  await until(async () => (await shop.endpoint()).failures === 1, 'it fails');
  shop.receiver.reply = (_, reply) => void reply.writeHead(204).end();
  await hider.hide('event_callback_deliveries');
  clock.tick(6_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.is(shop.receiver.received.length, 1);
  await hider.show('event_callback_deliveries');
  await until(() => {
    // The next look is a second away, from when the failure was noticed.
    clock.tick(1_000);
    return shop.receiver.received.length === 2;
  }, 'it is sent');
});

test('an endpoint whose position cannot be read is looked at again', async (t) => {
  let isBroken = true;
  const errors: unknown[] = [];
  const of = async (): Promise<undefined> => {
    if (isBroken) throw new Error('the table is locked');
  };
  const needs = {
    progress: { of, known: () => undefined },
    log: { error: (...all: unknown[]) => errors.push(all) },
  };
  const worker = new EndpointWorker('a', needs as unknown as WorkerNeeds, new AbortController().signal);
  for (let i = 0; i < 3; i++) {
    worker.wake();
    await worker.settled();
    t.true(worker.isDue(0));
  }
  t.is(errors.length, 1, 'the log says it once');
  isBroken = false;
  worker.wake();
  await worker.settled();
  t.false(worker.isDue(0));
});

test('a retry that is not written yet is not taken for none', async (t) => {
  let isUnwritten = true;
  const position = { position: 1, nextRetryAt: 1, pausedUntil: 0 };
  const needs = {
    progress: {
      of: async () => position,
      known: () => position,
      flush: async () => {},
      hasUnwritten: () => isUnwritten,
    },
    store: { get: () => ({ enable: true, events: [] }) },
    eventTypes: { chosen: () => [] },
    outbox: { newest: async () => 1 },
    clock: { now: () => 10 },
    db: { query: async () => [] },
    log: { error: () => {} },
  };
  const worker = new EndpointWorker('a', needs as unknown as WorkerNeeds, new AbortController().signal);
  worker.wake();
  await worker.settled();
  t.true(worker.isDue(10), 'it is looked for again');
  isUnwritten = false;
  worker.wake();
  await worker.settled();
  t.false(worker.isDue(10));
});

test('a pause of a clock that was set back ends', async (t) => {
  const clock = new FakeClock();
  await using world = await bootWithEndpoints({ clock });
  const { panel, inbound, add } = world;
  const shop = await add((_, reply) => void reply.writeHead(500).end());
  clock.jump(400 * DAY_MS);
  await panel.login();
  await panel.addClient('ann', [inbound]);
  await until(async () => (await shop.endpoint()).failures === 1, 'it fails');
  shop.receiver.reply = (_, reply) => void reply.writeHead(204).end();
  clock.jump(-400 * DAY_MS);
  await panel.login();
  clock.tick(2_000);
  await until(() => shop.receiver.received.length === 2, 'it is sent');
  await until(async () => (await shop.endpoint()).waiting === 0, 'nothing waits');
  t.is((await shop.endpoint()).failures, 0);
});

test('days without a panel are no days of failures', async (t) => {
  const clock = new FakeClock();
  await using world = await bootWithEndpoints({ clock });
  const { panel, inbound, add } = world;
  const shop = await add((_, reply) => void reply.writeHead(500).end());
  await panel.addClient('ann', [inbound]);
  await until(async () => (await shop.endpoint()).failures === 1, 'it fails');
  clock.leap(6 * DAY_MS);
  await panel.login();
  await until(async () => (await shop.endpoint()).failures === 2, 'it fails again');
  t.true((await shop.endpoint()).enable);
  for (const failures of [3, 4]) {
    clock.leap(DAY_MS);
    await panel.login();
    await until(async () => (await shop.endpoint()).failures === failures, 'and again');
  }
  await until(async () => !(await shop.endpoint()).enable, 'it is disabled');
});

test('an endpoint with the id of a deleted one gets nothing of it', async (t) => {
  const clock = new FakeClock();
  await using world = await bootWithEndpoints({ clock });
  const { panel, inbound, add } = world;
  const old = await add((_, reply) => void reply.writeHead(500).end());
  await panel.addClient('ann', [inbound]);
  await until(async () => (await old.endpoint()).failures === 1, 'it fails');
  await panel.get(`${PATH}/endpoints/${old.id}/del`, { method: 'POST' });
  old.receiver.reply = (_, reply) => void reply.writeHead(204).end();
  const body = { id: old.id, url: old.receiver.url, events: ['client.*'], allowPrivate: true };
  await panel.get(`${PATH}/endpoints`, { body });
  t.is((await old.endpoint()).waiting, 0);
  clock.tick(60_000);
  await panel.addClient('bob', [inbound]);
  await until(() => old.receiver.received.length === 2, 'the new event arrives');
  t.is(clientOf(old.receiver.received[1]?.json)['email'], 'bob');
});
