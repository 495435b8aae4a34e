// Runs on every database in test:full.
// Amounts for each client and day: saved with the caller's write, by the calendar of the panel, and pruned.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { contribute, type Database, definePlugin, type Plugin } from '../../../kernel/index.js';
import { dailyCounter, SeriesList, TimeSeries, type TimeSeriesApi } from '../contract.js';
import type { DailyAmounts } from '../daily.js';
import { dayOf, nameOfDay } from '../day.js';
import timeSeries from '../index.js';
import { random as seeded } from '../../../test/harness/random.js';

const NOW = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const usage = dailyCounter({ name: 'acme.usage', unit: 'B', days: 3 });

interface World {
  readonly panel: TestPanel;
  readonly clock: FakeClock;
  readonly series: TimeSeriesApi;
  readonly db: Database;
  readonly count: (amounts: Readonly<Record<string, number>>, at?: number) => Promise<void>;
  readonly setZone: (timeLocation: string) => Promise<unknown>;
}
async function boot(now = NOW): Promise<World> {
  let given: { store: TimeSeriesApi; db: Database } | undefined;
  const plugin: Plugin = definePlugin({
    name: 'acme',
    version: '1.0.0',
    api: 1,
    about: 'Counts.',
    uses: { store: TimeSeries },
    contributes: () => [contribute(SeriesList, usage)],
    start: ({ store, db }) => void (given = { store, db }),
  });
  const clock = new FakeClock(now);
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [plugin], clock });
  const { store, db } = given as unknown as { store: TimeSeriesApi; db: Database };
  return {
    panel,
    clock,
    series: store,
    db,
    count: (amounts, at) =>
      db.write((tx) =>
        store.count(
          tx,
          usage,
          Object.entries(amounts).map(([key, amount]) => ({ key, amount })),
          at,
        ),
      ),
    setZone: (timeLocation) => panel.get('/panel/api/setting/update', { body: { timeLocation } }),
  };
}

test('days are those of the zone, however long they are', (t) => {
  const day = (at: string, zone: string) => nameOfDay(dayOf(Date.parse(at), zone));
  t.is(day('2026-01-15T23:59:59.999Z', 'UTC'), '2026-01-15');
  t.is(day('2026-01-15T20:30:00Z', 'Asia/Tehran'), '2026-01-16');
  t.is(day('2026-01-15T20:29:59Z', 'Asia/Tehran'), '2026-01-15');
  t.is(day('2026-01-15T04:59:59Z', 'America/New_York'), '2026-01-14');
  // 23 hours in spring, 25 in autumn.
  const hoursOf = (date: string, zone: string): number => {
    const around = Array.from({ length: 72 }, (_, i) => Date.parse(`${date}T00:00:00Z`) + (i - 24) * HOUR);
    return around.filter((at) => nameOfDay(dayOf(at, zone)) === date).length;
  };
  t.deepEqual(
    ['2026-03-28', '2026-03-29', '2026-10-25'].map((date) => hoursOf(date, 'Europe/Berlin')),
    [24, 23, 25],
  );
  // A day that begins at one o'clock, and one that Samoa never had.
  t.is(hoursOf('2024-03-31', 'Asia/Beirut'), 23);
  t.is(hoursOf('2011-12-30', 'Pacific/Apia'), 0);
});

test('amounts add up by key and day of the panel, across daylight saving', async (t) => {
  // 23:30 in Berlin on the day before clocks go forward; the next day has 23 hours.
  const { panel, clock, series, count, setZone } = await boot(Date.UTC(2026, 2, 28, 22, 30));
  await using _ = panel;
  await setZone('Europe/Berlin');
  await count({ '1': 5, '2': 1, Ä: 3 });
  await count({ '1': 7 });
  clock.tick(HOUR);
  await count({ '1': 100 });
  clock.tick(22.5 * HOUR - 1);
  await count({ '1': 1_000 });
  clock.tick(1);
  await count({ '1': 2 ** 40, ä: 4 });
  t.deepEqual(await series.days(usage, '1', 3), [
    { day: '2026-03-28', amount: 12 },
    { day: '2026-03-29', amount: 1_100 },
    { day: '2026-03-30', amount: 2 ** 40 },
  ]);
  t.deepEqual(
    (await series.days(usage, 'Ä', 3)).map(({ amount }) => amount),
    [3, null, null],
  );
  await panel.login();
  await setZone('UTC');
  t.is((await series.days(usage, '1', 1))[0]?.day, '2026-03-29');
});

test('a write that fails counts nothing', async (t) => {
  const { panel, series, db, count } = await boot();
  await using _ = panel;
  await count({ '1': 5 });
  await t.throwsAsync(
    db.write(async (tx) => {
      await series.count(tx, usage, [{ key: '1', amount: 7 }]);
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.deepEqual(await series.days(usage, '1', 1), [{ day: '2026-01-15', amount: 5 }]);
});

test('what cannot be counted is refused, and nothing of it is saved', async (t) => {
  const { panel, series, db, count } = await boot();
  await using _ = panel;
  for (const amount of [-1, 0.5, Number.NaN, Infinity, 2 ** 53])
    await t.throwsAsync(count({ '1': 5, '2': amount }), {
      instanceOf: RangeError,
      message: /^series acme\.usage of plugin acme: the amount .* must be a whole number/,
    });
  for (const at of [NOW + 2 * DAY, NOW - 3 * DAY, Number.NaN, 1e300])
    await t.throwsAsync(count({ '1': 5 }, at), { message: /acme\.usage of plugin acme: the time / });
  await t.throwsAsync(count({ ['x'.repeat(129)]: 5 }), { message: /longer than 128/ });
  await t.throwsAsync(
    db.write((tx) => series.count(tx, usage, 'junk' as never)),
    { message: /must be a list/ },
  );
  const other = dailyCounter({ name: 'acme.other', unit: '', days: 3 });
  await t.throwsAsync(
    db.write((tx) => series.count(tx, other, [])),
    { message: /acme\.other is not declared/ },
  );
  await t.throwsAsync(series.days(usage, '1', 4), { message: /4 days cannot be read; the series keeps 3/ });
  t.deepEqual(await series.days(usage, '1', 1), [{ day: '2026-01-15', amount: null }]);
});

test('old days are removed one by one, so that a clock that is wrong for a while leaves the others', async (t) => {
  const { panel, clock, series, db, count } = await boot(NOW + 10.5 * HOUR);
  await using _ = panel;
  const days = async () =>
    (await db.query<{ day: number }>('SELECT DISTINCT day FROM time_series_days ORDER BY day')).map(
      ({ day }) => nameOfDay(Number(day)),
    );
  for (const back of [2, 1, 0]) await count({ '1': 1, '2': 1 }, NOW - back * DAY);
  const all = ['2026-01-13', '2026-01-14', '2026-01-15'];
  clock.tick(HOUR);
  await panel.kernel.settled();
  t.deepEqual(await days(), all, 'none is too old');
  clock.tick(HOUR);
  await panel.kernel.settled();
  t.deepEqual(await days(), all.slice(1));
  t.is((await series.days(usage, '1', 3))[0]?.amount, 1);
  clock.tick(2 * DAY);
  await panel.kernel.settled();
  t.deepEqual(await days(), all.slice(2), 'one run removes one day');
});

test('keys are forgotten with all their days, and no others', async (t) => {
  const { panel, series, db, count } = await boot();
  await using _ = panel;
  for (const back of [2, 1, 0]) await count({ '1': 1, '2': 2, '11': 3 }, NOW - back * DAY);
  await db.write((tx) => series.forgetDays(tx, usage, ['1', 'nobody']));
  const rows = await db.query('SELECT item, amount FROM time_series_days WHERE item = :one', { one: '1' });
  t.deepEqual(rows, []);
  t.deepEqual(
    (await series.days(usage, '11', 3)).map(({ amount }) => amount),
    [3, 3, 3],
  );
});

test('a hundred thousand clients a day are counted, read and pruned', async (t) => {
  const { panel, clock, series, db } = await boot(NOW + 11.5 * HOUR);
  await using _ = panel;
  const amounts = Array.from({ length: 100_000 }, (_, i) => ({ key: String(i + 1), amount: i + 1 }));
  for (const back of [2, 1, 0]) await db.write((tx) => series.count(tx, usage, amounts, NOW - back * DAY));
  t.deepEqual(
    (await series.days(usage, '99999', 3)).map(({ amount }) => amount),
    [99_999, 99_999, 99_999],
  );
  const rows = async () =>
    Number((await db.query<{ n: number }>('SELECT count(*) AS n FROM time_series_days'))[0]?.n);
  t.is(await rows(), 300_000);
  clock.tick(HOUR);
  await panel.kernel.settled();
  t.is(await rows(), 200_000);
  t.deepEqual(panel.faults, []);
});

test('the names of series in memory are those of the database, also when their plugins come and go', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  const { below: random } = seeded(17);
  const ids = new Map<string, number>();
  for (let round = 0; round < 6; round++) {
    const declared = Array.from({ length: 64 }, (_, i) => i)
      .filter(() => random(3) > 0)
      .map((i) => dailyCounter({ name: `acme.s${i}`, unit: 'B', days: 1 + random(3) }));
    const observed = servicesOf<{ daily: DailyAmounts }>(timeSeries);
    const plugin = definePlugin({
      name: 'acme',
      version: '1.0.0',
      api: 1,
      about: 'Counts.',
      contributes: () => declared.map((series) => contribute(SeriesList, series)),
    });
    const panel = await TestPanel.boot({
      plugins: [new FakeEngine().plugin, observed.plugin],
      outside: [plugin],
      dataDirectory: folder,
    });
    const { state } = observed.services.daily.projection;
    t.deepEqual([...state].sort(), [...(await observed.services.daily.projection.fresh())].sort());
    for (const { name, days } of declared) t.is(state.get(name)?.days, days);
    for (const [name, id] of ids) t.is(state.get(name)?.id, id, 'an id stays');
    for (const [name, { id }] of state) ids.set(name, id);
    await panel.stop();
  }
  t.true(ids.size > 60);
});
