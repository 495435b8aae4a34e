// What the preview foretells happens, and nothing else.
import test from 'ava';
import { type Clock, definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { random } from '../../../test/harness/random.js';
import {
  clientDepleted,
  clientRenewed,
  clientTrafficReset,
  inboundDepleted,
  trafficReset,
} from '../contract.js';
import type { PreviewReply } from '../preview.js';

const HOUR = 3_600_000;
const DAY_MS = 24 * HOUR;
const NOON = Date.UTC(2026, 0, 15, 12);
const API = '/panel/api/x/traffic/preview';

/** Runs each job once for each step, however long it is: days pass in a moment. */
class LeapClock implements Clock {
  readonly #jobs = new Set<() => void>();
  #now = NOON;

  now(): number {
    return this.#now;
  }
  every(_ms: number, run: () => void): () => void {
    this.#jobs.add(run);
    return () => void this.#jobs.delete(run);
  }
  leap(ms: number): void {
    this.#now += ms;
    for (const run of [...this.#jobs]) run();
  }
}

test('what it foretells comes true, to the hour, when the clock runs', async (t) => {
  const engine = new FakeEngine();
  const clock = new LeapClock();
  const happened = new Map<string, { at: number; times: number }>();
  const note = (what: string, names: readonly string[]): void => {
    for (const name of names) {
      const known = happened.get(`${name} ${what}`);
      if (known) known.times++;
      else happened.set(`${name} ${what}`, { at: clock.now(), times: 1 });
    }
  };
  const emails = (clients: readonly { readonly email: string }[]) => clients.map(({ email }) => email);
  const named = (ids: readonly number[]) => ids.map((id) => `inbound ${id}`);
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'Notes what happens.',
    taps: () => [
      tap(clientDepleted, ({ clients }) => note('cut', emails(clients))),
      tap(clientRenewed, ({ clients }) => note('renewed', emails(clients))),
      tap(clientTrafficReset, ({ clients }) => note('reset', emails(clients))),
      tap(trafficReset, ({ inboundIds }) => note('reset', named(inboundIds))),
      tap(inboundDepleted, ({ inbounds }) => note('cut', named(inbounds.map(({ id }) => id)))),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [engine.plugin, listener], clock });
  await panel.get('/panel/api/setting/update', {
    body: { timeLocation: 'Europe/Berlin', sessionMaxAge: 525_600 },
  });
  const { below, pick } = random(5);
  const inboundIds = [
    await panel.addInbound(),
    await panel.addInbound({ trafficReset: 'daily' }),
    await panel.addInbound({ expiryTime: NOON + 50 * HOUR }),
    await panel.addInbound({ trafficReset: 'weekly', expiryTime: NOON + 70 * HOUR, total: 100 }),
  ];
  const expiries = [0, 1, 2, 3].map(() => (): number => NOON + below(90) * HOUR);
  const body = Array.from({ length: 120 }, (_, i) => ({
    client: {
      email: `c${i}`,
      enable: below(8) > 0,
      expiryTime: pick([...expiries, () => 0, () => NOON - below(100) * HOUR])?.() ?? 0,
      reset: pick([0, 0, 1, 2, 30]),
      resetDay: pick([0, 0, 0, 17, 18, 31]),
      resetMax: pick([0, 0, 1, 2, 3]),
      totalGB: pick([0, 0, 500]),
      trafficReset: pick(['never', 'never', 'hourly', 'daily', 'weekly', 'monthly']),
      trafficResetDay: pick([1, 16, 18]),
    },
    inboundIds: [pick(inboundIds)],
  }));
  await panel.get('/panel/api/clients/bulkCreate', { body });
  const rows =
    await panel.get<{ id: number; inboundIds: number[]; totalGB: number }[]>('/panel/api/clients/list');
  // Some reach their quota before.
  for (const {
    id,
    inboundIds: [inboundId = 0],
    totalGB,
  } of rows)
    if (totalGB > 0 && below(2) === 0) engine.move(inboundId, id, 0, 600);
  engine.move(inboundIds[3] ?? 0, rows[0]?.id ?? 0, 0, 100);
  const poll = async (ms: number): Promise<void> => {
    clock.leap(ms);
    await panel.kernel.settled();
  };
  await panel.addClient('unused', inboundIds, { expiryTime: -HOUR, reset: 1 });
  // Those that are due already are done with before.
  await poll(5000);
  await poll(HOUR - 5000);
  happened.clear();

  const hours = 24 * 3;
  const from = clock.now();
  const preview = await panel.get<PreviewReply>(`${API}?until=${from + hours * HOUR}`);
  for (let hour = 0; hour < hours; hour++) await poll(HOUR);
  const foretold = [
    ...preview.clients.map(({ email, ...entry }) => ({ name: email, ...entry })),
    ...preview.inbounds.map(({ id, tag: _, ...entry }) => ({ name: `inbound ${id}`, ...entry })),
  ];
  const sorted = (entries: readonly (readonly [string, object])[]) =>
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  t.deepEqual(
    sorted(foretold.map(({ name, what, at, times }) => [`${name} ${what}`, { at, times }])),
    sorted([...happened]),
  );
  for (const what of ['cut', 'renewed', 'reset'] as const) {
    const entries = preview.clients.filter((entry) => entry.what === what);
    t.true(entries.length > 5, what);
    t.is(preview.counts.clients[what], entries.length);
  }
  t.deepEqual(preview.counts.inbounds, { cut: 2, renewed: 0, reset: 2 });
  t.deepEqual(
    preview.clients.map(({ at }) => at),
    preview.clients.map(({ at }) => at).sort((a, b) => a - b),
  );
});

test('lists are bounded, counts are exact, and the moment must be near', async (t) => {
  const clock = new FakeClock(NOON);
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  const inboundId = await panel.addInbound();
  const body = Array.from({ length: 4500 }, (_, i) => ({
    client: { email: `c${i}`, expiryTime: NOON + 10 * HOUR - i },
    inboundIds: [inboundId],
  }));
  await panel.get('/panel/api/clients/bulkCreate', { body });
  const until = NOON + DAY_MS;
  const { counts, clients, ...rest } = await panel.get<PreviewReply>(`${API}?until=${until}`);
  t.like(rest, { from: NOON, until, inbounds: [] });
  t.deepEqual(counts.clients, { cut: 4500, renewed: 0, reset: 0 });
  t.is(clients.length, 1000);
  t.deepEqual(clients[0], { email: 'c4499', what: 'cut', at: NOON + 10 * HOUR - 4499, times: 1 });
  t.is(clients.at(-1)?.email, 'c3500');
  t.is((await panel.get<PreviewReply>(`${API}?until=${NOON + 92 * DAY_MS}`)).counts.clients.cut, 4500);
  for (const wrong of [NOON, 0, NOON + 92 * DAY_MS + 1])
    await refused(
      t,
      panel,
      `${API}?until=${wrong}`,
      {},
      { status: 400, code: 'TRAFFIC_UNTIL_OUT_OF_RANGE', field: 'until' },
    );
  for (const wrong of ['', 'x', '1.5', '-1', '1e30'])
    await refused(
      t,
      panel,
      `${API}?until=${wrong}`,
      {},
      { status: 400, code: 'KERNEL_INVALID', field: 'until' },
    );
  await refused(t, panel, API, {}, { status: 400, code: 'KERNEL_INVALID', field: 'until' });
});
