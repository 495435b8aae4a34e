import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { editDatabase, withDatabase } from '../../../test/harness/edit-database.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { refused } from '../../../test/harness/refused.js';
import { trafficDeltas } from '../../traffic/contract.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Day {
  readonly day: string;
  readonly up: number;
  readonly down: number;
}
interface Top {
  readonly day: string;
  readonly clients: number;
  readonly up: number;
  readonly down: number;
  readonly top: { readonly id: number; readonly email: string; readonly up: number; readonly down: number }[];
}

async function openWorld(options: Parameters<typeof TestPanel.boot>[0] = {}) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({
    clock,
    ...options,
    plugins: [engine.plugin, ...(options.plugins ?? [])],
  });
  await panel.get('/panel/api/setting/update', {
    body: { timeLocation: 'UTC', sessionMaxAge: 525_600, sessionMaxLifetime: 525_600 },
  });
  const settle = async (ms: number) => {
    clock.tick(ms);
    await panel.kernel.settled();
  };
  return {
    engine,
    clock,
    panel,
    poll: () => settle(5000),
    /** Polls, and moves what was counted to the days. */
    minute: async () => {
      await settle(5000);
      await settle(60_000);
    },
    settle,
    inboundId: await panel.addInbound(),
    days: (email: string, query = '') =>
      panel.get<Day[]>(`/panel/api/x/usage-by-day/clients/${email}${query}`),
    top: (query = '') => panel.get<Top>(`/panel/api/x/usage-by-day/top${query}`),
  };
}
const used = (days: readonly Day[]) => days.filter(({ up, down }) => up + down > 0);

test('bytes appear on their day, for the client and among the first of the day', async (t) => {
  const { engine, panel, minute, inboundId, days, top, clock, settle } = await openWorld();
  await using _ = panel;
  const other = await panel.addInbound();
  const ann = await panel.addClient('ann', [inboundId, other]);
  const ben = await panel.addClient('ben', [inboundId]);
  await panel.addClient('idle', [inboundId]);
  engine.move(inboundId, ann.id, 1, 10);
  engine.move(other, ann.id, 2, 20);
  engine.move(inboundId, ben.id, 1000, 0);
  await minute();
  const all = await days('ann');
  t.is(all.length, 30);
  t.deepEqual([all[0]?.day, all.at(-1)], ['2025-12-17', { day: '2026-01-15', up: 3, down: 30 }]);
  t.deepEqual(used(all).length, 1);
  t.deepEqual(await top(), {
    day: '2026-01-15',
    clients: 2,
    up: 1003,
    down: 30,
    top: [
      { id: ben.id, email: 'ben', up: 1000, down: 0 },
      { id: ann.id, email: 'ann', up: 3, down: 30 },
    ],
  });
  t.is((await top('?limit=1')).top.length, 1);

  // Over midnight: the bytes of the last poll before it stay on the old day.
  clock.jump(Date.UTC(2026, 0, 16) - clock.now() - 1000);
  engine.move(inboundId, ann.id, 0, 500);
  await settle(5000);
  engine.move(inboundId, ann.id, 0, 7);
  await minute();
  t.deepEqual(await days('ann', '?from=2026-01-14&to=2026-01-16'), [
    { day: '2026-01-14', up: 0, down: 0 },
    { day: '2026-01-15', up: 3, down: 30 },
    { day: '2026-01-16', up: 0, down: 507 },
  ]);
  t.is((await top('?day=2026-01-15')).up, 1003);
  t.deepEqual((await top('?day=2020-02-29')).top, []);
});

test('many polls, resets and multipliers: the sum of the days is what was counted', async (t) => {
  const doubled = definePlugin({
    name: 'doubled',
    version: '0.0.0',
    api: 1,
    about: 'Counts each byte of an upload one and a half times.',
    taps: () => [tap(trafficDeltas, (usage) => usage.map((one) => ({ ...one, up: one.up * 1.5 })))],
  });
  const { engine, panel, poll, minute, inboundId, days } = await openWorld({ plugins: [doubled] });
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  for (let i = 0; i < 40; i++) {
    engine.move(inboundId, id, 3, i);
    await poll();
    if (i === 20) await panel.get('/panel/api/clients/resetTraffic/ann', { method: 'POST' });
  }
  await minute();
  await minute();
  t.deepEqual(used(await days('ann')), [{ day: '2026-01-15', up: 40 * 5, down: 780 }]);
});

test('bytes that could not be stored come with the next poll, once; a failing journal does not keep them', async (t) => {
  const { engine, panel, poll, minute, inboundId, days } = await openWorld();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  const total = async () => (await panel.get<{ down: number }>('/panel/api/clients/traffic/ann')).down;
  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON traffic_readings BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  engine.move(inboundId, id, 0, 5);
  await poll();
  await minute();
  t.deepEqual([await total(), used(await days('ann'))], [0, []]);
  await editDatabase(panel.dataDirectory, [
    'DROP TRIGGER broken',
    `CREATE TRIGGER broken BEFORE INSERT ON usage_by_day_journal BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  await poll();
  t.is(await total(), 0, 'both or neither');
  await editDatabase(panel.dataDirectory, ['DROP TRIGGER broken']);
  await minute();
  await minute();
  t.is(await total(), 5);
  t.deepEqual(used(await days('ann')), [{ day: '2026-01-15', up: 0, down: 5 }]);
});

test('a move that stops halfway goes on where it stopped, and two at once add nothing twice', async (t) => {
  const { engine, panel, minute, settle, inboundId, days, clock } = await openWorld();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  engine.move(inboundId, id, 0, 100);
  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON usage_by_day BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  await minute();
  engine.move(inboundId, id, 0, 11);
  await minute();
  t.deepEqual(used(await days('ann')), []);
  await editDatabase(panel.dataDirectory, ['DROP TRIGGER broken']);
  await minute();
  t.deepEqual(used(await days('ann')), [{ day: '2026-01-15', up: 0, down: 111 }]);
  // The hourly job moves too, in the same moment as that of the minute.
  clock.jump(HOUR - (clock.now() % HOUR) - 10_000);
  for (let i = 0; i < 6; i++) {
    engine.move(inboundId, id, 0, 1);
    await settle(600_000);
  }
  t.is(used(await days('ann'))[0]?.down, 117);
});

test('kill -9 between the steps of a move: the next panel adds the rest, once', async (t) => {
  const { engine, panel, poll, inboundId } = await openWorld();
  const { id } = await panel.addClient('ann', [inboundId]);
  engine.move(inboundId, id, 1, 2);
  await poll();
  const { dataDirectory } = panel;
  // As a crash after the first step leaves it: sums, some of them stored.
  await editDatabase(dataDirectory, [
    'UPDATE usage_by_day_journal SET is_summed = 1',
    `INSERT INTO usage_by_day (day, client_id, up, down) VALUES (20468, ${id}, 40, 50)`,
  ]);
  await panel.stop();
  const next = await openWorld({ dataDirectory });
  await using _ = next.panel;
  await next.minute();
  await next.minute();
  t.deepEqual(used(await next.days('ann')), [{ day: '2026-01-15', up: 41, down: 52 }]);
});

test('old days go, one an hour, and those of deleted clients', async (t) => {
  const { engine, panel, minute, settle, inboundId, days, top } = await openWorld();
  await using _ = panel;
  const ann = await panel.addClient('ann', [inboundId]);
  const gone = await panel.addClient('gone', [inboundId]);
  const rows = Array.from(
    { length: 20 },
    (_, i) => `(${20468 - i}, ${ann.id}, 1, 1), (${20468 - i}, ${gone.id}, 9, 9)`,
  );
  await editDatabase(panel.dataDirectory, [`INSERT INTO usage_by_day VALUES ${rows.join()}`]);
  await panel.get('/panel/api/setting/update', { body: { usageHistoryDays: 18 } });
  t.is((await top()).clients, 2);
  engine.move(inboundId, gone.id, 5, 5);
  await settle(5000);
  await panel.get('/panel/api/clients/del/gone', { method: 'POST' });
  t.deepEqual(
    [(await top()).clients, (await top()).up, (await top()).top.map(({ email }) => email)],
    [1, 1, ['ann']],
  );
  await minute();
  t.is(used(await days('ann')).length, 20);
  await settle(HOUR);
  t.is(used(await days('ann')).length, 19);
  await settle(HOUR);
  await settle(HOUR);
  t.deepEqual(
    used(await days('ann'))
      .map(({ day }) => day)
      .slice(0, 1),
    ['2025-12-29'],
  );
  const count = (sql: string) =>
    withDatabase(panel.dataDirectory, async (sequelize) => (await sequelize.query(sql))[0]);
  t.deepEqual(await count(`SELECT count(*) AS n FROM usage_by_day WHERE client_id <> ${ann.id}`), [{ n: 0 }]);
  t.deepEqual(await count('SELECT count(*) AS n FROM usage_by_day_deleted'), [{ n: 0 }]);
});

test('a clock that jumps: bytes belong to the day of the clock, and a wrong hour costs no history', async (t) => {
  const { engine, panel, minute, inboundId, days, clock } = await openWorld();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  clock.jump(11.5 * HOUR);
  engine.move(inboundId, id, 1, 0);
  await minute();
  clock.jump(HOUR);
  engine.move(inboundId, id, 2, 0);
  await minute();
  clock.jump(-HOUR);
  engine.move(inboundId, id, 4, 0);
  await minute();
  t.deepEqual(
    used(await days('ann', '?from=2026-01-15&to=2026-01-17')).map(({ day, up }) => [day, up]),
    [
      ['2026-01-15', 5],
      ['2026-01-16', 2],
    ],
  );
  clock.jump(500 * DAY);
  await minute();
  clock.jump(-500 * DAY);
  await panel.login();
  t.is(used(await days('ann', '?from=2026-01-15&to=2026-01-17')).length, 2);
  t.deepEqual(panel.faults, []);
});

test('wrong days, ranges, limits and unknown clients are refused by name', async (t) => {
  const { panel } = await openWorld();
  await using _ = panel;
  const path = '/panel/api/x/usage-by-day';
  const bad = { status: 400, code: 'KERNEL_INVALID' };
  for (const day of ['2026-02-30', '2026-1-1', 'today', '', '99999-01-01', '2026-01-15T00:00', '-001-01-01'])
    await refused(t, panel, `${path}/top?day=${day}`, {}, { ...bad, field: 'day' });
  for (const limit of ['0', '1001', '-1', '1.5', 'x', '1e3x'])
    await refused(t, panel, `${path}/top?limit=${limit}`, {}, { ...bad, field: 'limit' });
  const none = { status: 404, code: 'CLIENTS_NOT_FOUND', field: 'email' };
  await refused(t, panel, `${path}/clients/nobody`, {}, none);
  await panel.addClient('ann', [await panel.addInbound()]);
  const range = { status: 400, code: 'USAGE_BY_DAY_NO_RANGE' };
  for (const query of ['from=2026-01-15&to=2026-01-14', 'from=2024-01-01', 'from=2027-01-01'])
    await refused(t, panel, `${path}/clients/ann?${query}`, {}, { ...range, field: 'from' });
  await refused(t, panel, `${path}/clients/ann?to=0`, {}, { ...bad, field: 'to' });
  for (const usageHistoryDays of [0, 401, 1.5, 'many', null])
    await refused(
      t,
      panel,
      '/panel/api/setting/update',
      { body: { usageHistoryDays } },
      { ...bad, field: 'usageHistoryDays' },
    );
});
