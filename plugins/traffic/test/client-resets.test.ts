// Runs on every database in test:full.
// The schedule of a client itself: its counters start at zero, whatever its inbounds do.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import clients from '../../clients/index.js';
import type { ClientStore } from '../../clients/model/client-store.js';
import { clientTrafficReset } from '../contract.js';

const HOUR = 3_600_000;
const DAY_MS = 24 * HOUR;
const API = '/panel/api/clients';
/** Thursday */
const NOON = Date.UTC(2026, 0, 15, 12);

interface Shown {
  readonly enable: boolean;
  readonly up: number;
  readonly down: number;
}
const reset: string[] = [];
const listener = definePlugin({
  name: 'listener',
  version: '1.0.0',
  api: 1,
  about: 'Notes who is reset.',
  taps: () => [
    tap(clientTrafficReset, ({ clients }) => void reset.push(...clients.map(({ email }) => email))),
  ],
});

const engine = new FakeEngine();
const clock = new FakeClock(NOON);
let observed: { readonly services: { readonly store: ClientStore } };
let panel: TestPanel;
let inboundId: number;
const open = (dataDirectory?: string): Promise<TestPanel> => {
  const inside = servicesOf<{ store: ClientStore }>(clients);
  observed = inside;
  return TestPanel.boot({
    plugins: [inside.plugin, engine.plugin, listener],
    clock,
    ...(dataDirectory && { dataDirectory }),
  });
};
const useZone = (timeLocation: string): Promise<unknown> =>
  panel.get('/panel/api/setting/update', { body: { timeLocation, sessionMaxAge: 525_600 } });
/** Starts a panel at this moment, in place of the one that runs. */
const sleepUntil = async (moment: number): Promise<void> => {
  await panel.stop();
  clock.tick(moment - clock.now());
  panel = await open(panel.dataDirectory);
};
/** Moves on until this moment, and polls there. */
const passUntil = async (moment: number): Promise<void> => {
  if (moment - clock.now() > 5000) clock.tick(moment - clock.now() - 5000);
  await panel.kernel.settled();
  clock.tick(moment - clock.now());
  await panel.kernel.settled();
};
const shown = (email: string): Promise<Shown> => panel.get(`${API}/traffic/${email}`);
const update = (email: string, body: object): Promise<unknown> =>
  panel.get(`${API}/update/${email}`, { body });
const ids = new Map<string, number>();
const add = async (email: string, fields: Record<string, unknown>): Promise<void> => {
  ids.set(email, (await panel.addClient(email, [inboundId], fields)).id);
};
const move = (email: string, down: number): void => engine.move(inboundId, ids.get(email) ?? 0, 1, down);
const used = async (...emails: string[]): Promise<number[]> =>
  Promise.all(emails.map(async (email) => (await shown(email)).down));

test.before(async () => {
  panel = await open();
  inboundId = await panel.addInbound();
  await useZone('UTC');
});
test.after.always(() => panel[Symbol.asyncDispose]());
test.beforeEach(() => void (reset.length = 0));

test.serial('each schedule resets its clients at its own time, and no others', async (t) => {
  const schedules = ['never', 'hourly', 'daily', 'weekly', 'monthly'];
  for (const trafficReset of schedules) await add(trafficReset, { trafficReset, trafficResetDay: 19 });
  const moveAll = (): void => {
    for (const email of schedules) move(email, 500);
  };
  moveAll();
  await passUntil(NOON + HOUR - 5000);
  t.deepEqual(await used(...schedules), [500, 500, 500, 500, 500]);
  // Bytes that no poll has seen belong to the hour that ends.
  move('hourly', 30);
  await passUntil(NOON + HOUR);
  t.deepEqual(await used(...schedules), [500, 0, 500, 500, 500]);
  t.deepEqual(reset, ['hourly']);
  moveAll();
  await passUntil(NOON + HOUR + 5000);
  t.deepEqual(await used('hourly'), [500], 'once');
  await passUntil(NOON + 12 * HOUR);
  t.deepEqual(await used(...schedules), [1000, 0, 0, 1000, 1000]);
  moveAll();
  // Sunday the 18th, by the facts.
  await passUntil(Date.UTC(2026, 0, 18) - 5000);
  t.is((await shown('weekly')).down, 1500);
  await passUntil(Date.UTC(2026, 0, 18));
  t.deepEqual(await used(...schedules), [1500, 0, 0, 0, 1500]);
  await passUntil(Date.UTC(2026, 0, 19));
  t.deepEqual(await used(...schedules), [1500, 0, 0, 0, 0]);
});

test.serial("record, core and counters agree after a reset; admins' choices and expiries stay", async (t) => {
  const begin = clock.now();
  const daily = { trafficReset: 'daily', totalGB: 1000 };
  await add('full', daily);
  await add('off', daily);
  await add('expired', { ...daily, expiryTime: begin + HOUR });
  await add('both', { ...daily, expiryTime: begin + HOUR });
  for (const email of ['full', 'both']) move(email, 1000);
  for (const email of ['off', 'expired']) move(email, 900);
  await passUntil(begin + 5000);
  await update('off', { enable: false });
  await passUntil(begin + DAY_MS);
  t.like(await shown('full'), { enable: true, up: 0, down: 0 });
  t.like(await panel.get(`${API}/get/full`), { enable: true });
  t.true(engine.users.has(`i${inboundId}.c${ids.get('full')}`));
  t.like(await shown('off'), { enable: false, down: 900 });
  t.like(await shown('expired'), { enable: false, down: 900 });
  t.like(await shown('both'), { enable: false, down: 1000 });
  t.false(engine.users.has(`i${inboundId}.c${ids.get('both')}`));
  t.false(reset.includes('off') || reset.includes('expired') || reset.includes('both'));

  // Those that come back start the present period at zero.
  await update('off', { enable: true });
  await update('expired', { expiryTime: 0 });
  await passUntil(begin + DAY_MS + 15 * 60_000);
  t.like(await shown('off'), { enable: true, down: 0 });
  t.like(await shown('expired'), { enable: true, down: 0 });
});

test.serial(
  'periods that ended while no panel ran are one reset, and the next start does not repeat it',
  async (t) => {
    await add('slept', { trafficReset: 'monthly', trafficResetDay: 31 });
    move('slept', 4000);
    await passUntil(clock.now() + 5000);
    await sleepUntil(Date.UTC(2026, 4, 2, 9));
    t.deepEqual(await used('slept'), [4000]);
    await passUntil(clock.now() + 5000);
    t.deepEqual(await used('slept'), [0]);
    t.is(reset.filter((email) => email === 'slept').length, 1);
    move('slept', 300);
    await passUntil(clock.now() + HOUR);
    await sleepUntil(Date.UTC(2026, 4, 31) - 10_000);
    await passUntil(clock.now() + 5000);
    t.deepEqual(await used('slept'), [300]);
    await passUntil(Date.UTC(2026, 4, 31));
    t.deepEqual(await used('slept'), [0]);
    move('slept', 5);
    await passUntil(clock.now() + 5000);
    // The last day of a shorter month.
    await sleepUntil(Date.UTC(2026, 5, 30) - 10_000);
    await passUntil(clock.now() + 5000);
    t.deepEqual(await used('slept'), [5]);
    await passUntil(Date.UTC(2026, 5, 30));
    t.deepEqual(await used('slept'), [0]);
  },
);

test.serial(
  'a schedule starts when it is set, and an update that repeats it does not start it again',
  async (t) => {
    await add('changed', {});
    move('changed', 700);
    await passUntil(clock.now() + 5000);
    await sleepUntil(clock.now() + 40 * DAY_MS);
    await update('changed', { trafficReset: 'monthly', trafficResetDay: 1 });
    await passUntil(clock.now() + HOUR);
    t.deepEqual(await used('changed'), [700], 'the first of this month is over');
    const midnight = Math.ceil(clock.now() / DAY_MS) * DAY_MS;
    await update('changed', { trafficReset: 'daily', trafficResetDay: 1 });
    await passUntil(midnight - 10_000);
    await sleepUntil(midnight + 10_000);
    await update('changed', { trafficReset: 'daily', trafficResetDay: 1, comment: 'all fields come back' });
    await passUntil(clock.now() + 5000);
    t.deepEqual(await used('changed'), [0], 'the midnight before the update counts');
  },
);

test.serial('midnight is that of the zone, also where daylight saving skips or repeats it', async (t) => {
  await useZone('Asia/Beirut');
  await add('beirut', { trafficReset: 'daily' });
  const resetsBetween = async (from: number, to: number): Promise<string[]> => {
    await sleepUntil(from - 5000);
    await passUntil(from);
    const found: string[] = [];
    for (let at = from + 15 * 60_000; at <= to; at += 15 * 60_000) {
      move('beirut', 10);
      await passUntil(at);
      if ((await shown('beirut')).down === 0) found.push(new Date(at).toISOString());
    }
    return found;
  };
  // At 00:00 clocks go back to 23:00: midnight comes twice, and the second one starts the day.
  t.deepEqual(await resetsBetween(Date.UTC(2026, 9, 24, 20), Date.UTC(2026, 9, 24, 23)), [
    '2026-10-24T22:00:00.000Z',
  ]);
  // At 00:00 they go to 01:00.
  t.deepEqual(await resetsBetween(Date.UTC(2027, 2, 27, 20), Date.UTC(2027, 2, 28, 1)), [
    '2027-03-27T22:00:00.000Z',
  ]);
});

test.serial('blank means never and day 0 the first, as programs send them', async (t) => {
  await add('blank', { trafficReset: '', trafficResetDay: 0 });
  t.like(await panel.get(`${API}/get/blank`), { trafficReset: 'never', trafficResetDay: 1 });
  t.false('countedSince' in (await panel.get<object>(`${API}/get/blank`)));
});

test.serial('memory has what a fresh load gives', async (t) => {
  const { projection } = observed.services.store;
  const fresh = await projection.fresh();
  t.true(fresh.size > 10);
  t.deepEqual(projection.state.ordered('id'), fresh.ordered('id'));
});
