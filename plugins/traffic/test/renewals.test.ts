// Runs on every database in test:full.
// Clients whose time is over and that get the next period.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { afterClientSwitch } from '../../clients/contract.js';
import { clientDepleted, clientRenewed } from '../contract.js';

const DAY_MS = 86_400_000;
const API = '/panel/api/clients';

interface Shown {
  readonly enable: boolean;
  readonly up: number;
  readonly down: number;
  readonly expiryTime: number;
  readonly resetCount: number;
}
interface Renewed {
  readonly id: number;
  readonly email: string;
  readonly expiryTime: number;
  readonly resetCount: number;
}

const renewed: Renewed[] = [];
/** how many renewed in each transaction */
const portions: number[] = [];
const depleted: string[] = [];
/** ids, of each write */
const switched: (readonly number[])[] = [];
const listener = definePlugin({
  name: 'listener',
  version: '1.0.0',
  api: 1,
  about: 'Notes who renews.',
  taps: () => [
    tap(clientRenewed, ({ clients }) => {
      portions.push(clients.length);
      renewed.push(...clients);
    }),
    tap(afterClientSwitch, ({ ids }) => void switched.push(ids)),
    tap(clientDepleted, ({ clients }) => void depleted.push(...clients.map(({ email }) => email))),
  ],
});

const engine = new FakeEngine();
const clock = new FakeClock();
let panel: TestPanel;
let inboundId: number;
const open = (dataDirectory?: string): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [engine.plugin, listener], clock, ...(dataDirectory && { dataDirectory }) });
/** Stops the panel, and starts another one this much later. */
const sleep = async (ms: number): Promise<void> => {
  await panel.stop();
  clock.tick(ms);
  panel = await open(panel.dataDirectory);
};

test.before(async () => {
  panel = await open();
  inboundId = await panel.addInbound();
  await panel.get('/panel/api/setting/update', { body: { timeLocation: 'UTC', sessionMaxAge: 525_600 } });
});
test.after.always(() => panel[Symbol.asyncDispose]());
test.beforeEach(() => {
  renewed.length = depleted.length = portions.length = switched.length = 0;
});

const shown = (email: string): Promise<Shown> => panel.get(`${API}/traffic/${email}`);
const update = (email: string, body: object): Promise<unknown> =>
  panel.get(`${API}/update/${email}`, { body });
/** Moves on and polls; the jump of the clock is over before the last poll. */
const pass = async (ms: number): Promise<void> => {
  if (ms > 5000) clock.tick(ms - 5000);
  await panel.kernel.settled();
  clock.tick(5000);
  await panel.kernel.settled();
};

test.serial(
  'a client renews at its expiry: later date, no usage, never cut, and its group keeps its traffic',
  async (t) => {
    const expiryTime = clock.now() + 10_000;
    const { id } = await panel.addClient('simple', [inboundId], {
      expiryTime,
      reset: 30,
      group: 'g',
      totalGB: 10_000,
    });
    await panel.addClient('mate', [inboundId], { expiryTime: expiryTime + DAY_MS });
    engine.move(inboundId, id, 100, 2000);
    await pass(5000);
    t.like(await shown('simple'), { up: 100, down: 2000, expiryTime, resetCount: 0 });
    // Bytes that no poll has seen belong to the period that ends.
    engine.move(inboundId, id, 0, 30);
    const told = engine.told.length;
    await pass(5000);
    t.like(await shown('simple'), {
      enable: true,
      up: 0,
      down: 0,
      expiryTime: expiryTime + 30 * DAY_MS,
      resetCount: 1,
    });
    t.deepEqual(renewed, [
      {
        id,
        email: 'simple',
        inboundIds: [inboundId],
        previousExpiryTime: expiryTime,
        expiryTime: expiryTime + 30 * DAY_MS,
        resetCount: 1,
      },
    ]);
    t.deepEqual(depleted, []);
    t.is(engine.told.length, told, 'its connections stay open');
    const groups = await panel.get<{ name: string; trafficUsed: number }[]>(`${API}/groups`);
    t.is(groups.find(({ name }) => name === 'g')?.trafficUsed, 2130);
    await pass(5000);
    t.is(renewed.length, 1, 'once');
  },
);

test.serial('a client at its quota comes back at its renewal, on all its inbounds', async (t) => {
  const second = await panel.addInbound();
  const expiryTime = clock.now() + DAY_MS;
  const { id } = await panel.addClient('full', [inboundId, second], {
    expiryTime,
    resetDay: 31,
    totalGB: 1000,
  });
  engine.move(inboundId, id, 0, 1000);
  await pass(5000);
  t.false((await shown('full')).enable);
  t.false(engine.users.has(`i${inboundId}.c${id}`));
  const told = () => switched.filter((ids) => ids.includes(id)).length;
  t.is(told(), 1, 'the cores of other panels are told');
  await pass(DAY_MS);
  t.is(told(), 2);
  t.like(await shown('full'), { enable: true, down: 0, resetCount: 1, expiryTime: Date.UTC(2026, 0, 31) });
  t.true(engine.users.has(`i${inboundId}.c${id}`));
  t.true(engine.users.has(`i${second}.c${id}`));
  t.like(await panel.get(`${API}/get/full`), { enable: true, inboundIds: [inboundId, second] });
  await panel.get(`${API}/del/full`, { method: 'POST' });
});

test.serial(
  'three missed periods are one renewal; with two renewals left the client stays expired and keeps its usage',
  async (t) => {
    const expiryTime = clock.now() + DAY_MS;
    const terms = { expiryTime, reset: 30 };
    await panel.addClient('free', [inboundId], terms);
    const { id } = await panel.addClient('capped', [inboundId], { ...terms, resetMax: 2 });
    engine.move(inboundId, id, 7, 70);
    await pass(5000);
    renewed.length = 0;
    await sleep(80 * DAY_MS);
    await pass(5000);
    t.deepEqual(
      renewed
        .filter(({ email }) => email === 'free')
        .map(({ expiryTime, resetCount }) => [expiryTime, resetCount]),
      [[expiryTime + 90 * DAY_MS, 3]],
    );
    t.like(await shown('capped'), {
      enable: false,
      up: 7,
      down: 70,
      expiryTime: expiryTime + 60 * DAY_MS,
      resetCount: 2,
    });
    t.deepEqual(
      renewed.filter(({ email }) => email === 'capped'),
      [],
    );
    t.true(depleted.includes('capped'));
    await update('capped', { resetMax: 3 });
    await pass(5000);
    t.like(await shown('capped'), {
      enable: true,
      up: 0,
      down: 0,
      expiryTime: expiryTime + 90 * DAY_MS,
      resetCount: 3,
    });
  },
);

test.serial(
  'an expired client renews when it gets a period later, on whatever way it was stored',
  async (t) => {
    const expiryTime = clock.now() - DAY_MS;
    const { id } = await panel.addClient('late', [inboundId], { expiryTime });
    await pass(5000);
    t.false((await shown('late')).enable);
    t.false(engine.users.has(`i${inboundId}.c${id}`));
    await update('late', { reset: 7 });
    await pass(5000);
    t.like(await shown('late'), { enable: true, expiryTime: expiryTime + 7 * DAY_MS, resetCount: 1 });
    t.true(engine.users.has(`i${inboundId}.c${id}`));
  },
);

test.serial(
  'a client that an admin disabled does not renew, and does when the admin enables it',
  async (t) => {
    const expiryTime = clock.now() + 10_000;
    const { id } = await panel.addClient('off', [inboundId], { expiryTime, reset: 30 });
    await update('off', { enable: false });
    await pass(DAY_MS);
    t.like(await shown('off'), { enable: false, expiryTime, resetCount: 0 });
    t.deepEqual(
      renewed.filter(({ email }) => email === 'off'),
      [],
    );
    await update('off', { enable: true });
    await pass(5000);
    t.like(await shown('off'), { enable: true, expiryTime: expiryTime + 30 * DAY_MS, resetCount: 1 });
    t.true(engine.users.has(`i${inboundId}.c${id}`));
  },
);

test.serial(
  'delDepleted spares a client while a renewal is left, and takes it when they are used up',
  async (t) => {
    const { id } = await panel.addClient('last', [inboundId], {
      expiryTime: clock.now() + 10_000,
      reset: 1,
      resetMax: 1,
      totalGB: 100,
    });
    engine.move(inboundId, id, 0, 100);
    await pass(5000);
    t.false((await shown('last')).enable);
    await panel.get(`${API}/delDepleted`, { method: 'POST' });
    await pass(5000);
    t.like(await shown('last'), { enable: true, resetCount: 1 });
    engine.move(inboundId, id, 0, 100);
    await pass(5000);
    await panel.get(`${API}/delDepleted`, { method: 'POST' });
    t.is((await panel.call(`${API}/get/last`)).status, 404);
  },
);

test.serial(
  '2,500 clients that renew at once are written in short transactions, each client once',
  async (t) => {
    const expiryTime = clock.now() + 60_000;
    await panel.get(`${API}/bulkCreate`, {
      body: Array.from({ length: 2500 }, (_, i) => ({
        client: { email: `many${i}`, expiryTime, reset: 1 + (i % 3) },
        inboundIds: [inboundId],
      })),
    });
    await pass(60_000);
    t.is(new Set(renewed.map(({ id }) => id)).size, 2500);
    t.is(renewed.length, 2500);
    t.deepEqual(portions, Array(10).fill(250));
    t.deepEqual(depleted, []);
    t.is((await shown('many4')).expiryTime, expiryTime + 2 * DAY_MS);
  },
);

test.serial('memory has what a fresh load gives', async (t) => {
  const before = await panel.get<unknown>(`${API}/list`);
  await sleep(0);
  t.deepEqual(await panel.get<unknown>(`${API}/list`), before);
});
