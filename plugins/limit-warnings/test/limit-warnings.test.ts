// Runs on every database in test:full.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { messenger } from '../../notifications/test/channels.js';
import { duringLimitWarning } from '../contract.js';

const DAY = 86_400_000;
const GIB = 1_073_741_824;

async function openWorld(
  t: ExecutionContext,
  {
    dataDirectory,
    clock = new FakeClock(),
    fails = () => false,
  }: { dataDirectory?: string; clock?: FakeClock; fails?: () => boolean } = {},
) {
  const engine = new FakeEngine();
  const channel = messenger();
  const given: string[] = [];
  const watcher = definePlugin({
    name: 'watcher',
    version: '1.0.0',
    api: 1,
    about: 'Follows warnings.',
    taps: () => [
      tap(duringLimitWarning, ({ warnings }) => {
        if (fails()) throw new Error('not now');
        given.push(...warnings.map(({ email, kind }) => `${email} ${kind}`));
      }),
    ],
  });
  const panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin, watcher],
    outside: [channel.plugin],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const settle = async (ms = 5_000) => {
    clock.tick(ms);
    await panel.kernel.settled();
    // Polls and jobs write.
    await new Promise((resolve) => setTimeout(resolve, 60));
  };
  return {
    panel,
    engine,
    clock,
    given,
    ...channel,
    settle,
    run: async (times = 3) => {
      for (let i = 0; i < times; i++) await settle();
    },
    update: (email: string, body: object) => panel.get(`/panel/api/clients/update/${email}`, { body }),
  };
}
async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(path);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

test('a client near its quota is warned once, and the admins too; a renewed or raised quota arms it again', async (t) => {
  const { panel, engine, given, admins, clients, run, update } = await openWorld(t);
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound], { totalGB: 10 * GIB, tgId: 4242 });
  const bob = await panel.addClient('bob', [inbound], { totalGB: 10 * GIB });
  engine.move(inbound, ada.id, 0, 7.9 * GIB);
  await run();
  t.deepEqual(given, [], 'below 80 %');
  engine.move(inbound, ada.id, 0, 0.2 * GIB);
  engine.move(inbound, bob.id, 0, 8 * GIB);
  await run();
  await until(() => admins.length === 1 && clients.length === 1, 'both hear');
  t.deepEqual([...given].sort(), ['ada quota', 'bob quota']);
  t.is(admins[0]?.text, '2 clients have nearly used up their traffic: ada (81 %) and bob (80 %).');
  t.like(clients[0], { client: { id: ada.id, email: 'ada', messengerId: 4242 } });
  t.is(clients[0]?.notification.text, 'You have used 81 % of your traffic; 1.9 GiB of 10 GiB are left.');
  engine.move(inbound, ada.id, 0, 0.5 * GIB);
  await run();
  t.is(given.length, 2, 'once');
  await update('ada', { comment: 'the same quota' });
  await run();
  t.is(given.length, 2, 'another edit is no new period');
  await update('ada', { totalGB: 10.5 * GIB });
  await run();
  t.deepEqual(given.slice(2), ['ada quota'], 'another quota, and still near it');
  await panel.get('/panel/api/clients/resetTraffic/bob', { method: 'POST' });
  await run();
  engine.move(inbound, bob.id, 0, 8.5 * GIB);
  await run();
  t.deepEqual(given.slice(3), ['bob quota'], 'a new period');
  engine.move(inbound, ada.id, 0, 5 * GIB);
  await run();
  t.is(given.length, 4, 'who reached the limit is told so by another event');
  t.deepEqual(panel.faults, []);
});

test('a client near its expiry is warned once; one that renews by itself is not', async (t) => {
  const { panel, clock, given, admins, clients, run, settle, update } = await openWorld(t);
  const inbound = await panel.addInbound();
  const at = clock.now() + 5 * DAY;
  await panel.addClient('ada', [inbound], { expiryTime: at, tgId: 7 });
  await panel.addClient('bob', [inbound], { expiryTime: at, reset: 30 });
  await panel.addClient('eve', [inbound], { expiryTime: at + 10 * DAY });
  await run();
  t.deepEqual(given, []);
  clock.jump(2 * DAY + 60_000);
  await settle(60_000);
  await run();
  await until(() => clients.length === 1, 'the client hears');
  t.deepEqual(given, ['ada expiry']);
  t.regex(admins[0]?.text ?? '', /^A client expires soon: ada on Jan 20, 2026\.$/);
  t.regex(clients[0]?.notification.text ?? '', /^Your access expires on Jan 20, 2026 at /);
  clock.jump(DAY);
  await settle(60_000);
  await run();
  t.is(given.length, 1, 'once');
  await panel.login();
  await update('ada', { expiryTime: at + DAY });
  await run();
  t.deepEqual(given, ['ada expiry', 'ada expiry'], 'another expiry, and near it');
  await update('eve', { expiryTime: clock.now() + DAY });
  await run();
  t.deepEqual(given.slice(2), ['eve expiry'], 'an expiry that is moved into the time of warnings');
});

test('a client that a clock ahead of time has disabled is warned in its time', async (t) => {
  const { panel, clock, given, run, settle, update } = await openWorld(t);
  const inbound = await panel.addInbound();
  await panel.addClient('ada', [inbound], { expiryTime: clock.now() + 20 * DAY });
  await run();
  clock.jump(25 * DAY);
  await settle(60_000);
  await run();
  clock.jump(-25 * DAY);
  await panel.login();
  await update('ada', { enable: true });
  await settle(60_000);
  await run();
  t.deepEqual(given, []);
  clock.jump(18 * DAY);
  await settle(60_000);
  await run();
  t.deepEqual(given, ['ada expiry']);
});

test('0 is no warning, and another setting is in force at once', async (t) => {
  const { panel, engine, given, run } = await openWorld(t);
  const set = (body: object) => panel.call('/panel/api/setting/update', { body });
  await set({ warnQuotaPercent: 0, warnExpiryDays: 0 });
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound], { totalGB: 100, expiryTime: Date.UTC(2026, 0, 16) });
  engine.move(inbound, ada.id, 0, 60);
  await run();
  t.deepEqual(given, []);
  await set({ warnQuotaPercent: 50 });
  await run();
  t.deepEqual(given, ['ada quota'], 'without any bytes');
  await set({ warnExpiryDays: 3 });
  await run();
  t.deepEqual(given, ['ada quota', 'ada expiry']);
  for (const wrong of [
    { warnQuotaPercent: 100 },
    { warnQuotaPercent: -1 },
    { warnExpiryDays: 1e9 },
    { warnExpiryDays: 'x' },
  ])
    t.is((await set(wrong)).status, 400);
});

test('a warning is given once over a restart, and one that could not be stored is given later', async (t) => {
  const dataDirectory = await folder(t);
  let isFailing = true;
  const first = await openWorld(t, { dataDirectory, fails: () => isFailing });
  const inbound = await first.panel.addInbound();
  const ada = await first.panel.addClient('ada', [inbound], { totalGB: 1_000, tgId: 1 });
  first.engine.move(inbound, ada.id, 0, 900);
  await first.settle();
  await first.settle();
  t.deepEqual([first.given.length, first.clients.length], [0, 0], 'all or nothing');
  isFailing = false;
  await first.run();
  await until(() => first.clients.length === 1, 'the client hears');
  await first.panel.stop();
  const second = await openWorld(t, { dataDirectory, clock: first.clock });
  await second.run(4);
  t.deepEqual([second.given, second.clients.length], [[], 0]);
  second.engine.epoch = 'second';
  second.engine.move(inbound, ada.id, 0, 10);
  await second.run();
  t.deepEqual(second.given, []);
  const failures = second.panel.log.filter((line) => line.includes('warnings before a limit failed'));
  t.deepEqual(failures, []);
});

test('a deleted client leaves nothing behind, and a new one of the same name is warned', async (t) => {
  const { panel, engine, given, run } = await openWorld(t);
  const inbound = await panel.addInbound();
  for (const total of [100, 200]) {
    const { id } = await panel.addClient('ada', [inbound], { totalGB: total });
    engine.move(inbound, id, 0, total * 0.9);
    await run();
    await panel.get('/panel/api/clients/del/ada', { method: 'POST' });
    await run(1);
  }
  t.deepEqual(given, ['ada quota', 'ada quota']);
});

test('thousands that come near at once are warned in batches, without a long stall', async (t) => {
  const { panel, clock, given, run, settle } = await openWorld(t);
  const inbound = await panel.addInbound();
  const items = Array.from({ length: 1_000 }, (_, i) => ({
    client: { email: `c${i}`, expiryTime: clock.now() + DAY, tgId: i + 1 },
    inboundIds: [inbound],
  }));
  await panel.get('/panel/api/clients/bulkCreate', { body: items });
  await settle();
  await run(8);
  await until(() => given.length === 1_000, 'all are warned');
  t.is(new Set(given).size, 1_000);
});
