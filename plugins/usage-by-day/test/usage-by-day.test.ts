// Runs on every database in test:full.
// Usage by day: what is counted, shown, and removed.
import test from 'ava';
import { type Database, definePlugin, tap } from '../../../kernel/index.js';
import { countWrites } from '../../../test/harness/count-writes.js';
import { editDatabase, withDatabase } from '../../../test/harness/edit-database.js';
import { refused } from '../../../test/harness/refused.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { trafficDeltas } from '../../traffic/contract.js';
import plugin from '../index.js';
import type { UsageDays } from '../usage-days.js';
import { openWorld, used } from './world.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

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
  t.is((await top('?limit=1')).top[0]?.email, 'ann', 'a deleted client takes no place');
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
  t.deepEqual(
    panel.faults.filter((fault) => fault.startsWith('usage-by-day')),
    [],
  );
});

test('a day is that of the calendar of the panel, also for a client that is asked about today', async (t) => {
  const { engine, panel, minute, inboundId, days, top } = await openWorld();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  // Noon in UTC.
  await panel.get('/panel/api/setting/update', { body: { timeLocation: 'Pacific/Kiritimati' } });
  engine.move(inboundId, id, 7, 0);
  await minute();
  t.deepEqual((await days('ann')).at(-1), { day: '2026-01-16', up: 7, down: 0 });
  t.is((await top()).day, '2026-01-16');
  await panel.get('/panel/api/setting/update', { body: { timeLocation: 'UTC' } });
  t.is((await days('ann')).at(-1)?.day, '2026-01-15');
});

test('an old day of thousands of clients is removed in portions', async (t) => {
  const { panel, settle, top } = await openWorld();
  await using _ = panel;
  const ann = await panel.addClient('ann', [await panel.addInbound()]);
  const values = Array.from({ length: 12_000 }, (_, i) => `(20000, ${1_000_000 + i}, 1, 1)`);
  await editDatabase(panel.dataDirectory, [
    `INSERT INTO usage_by_day VALUES ${values.join()}`,
    `INSERT INTO usage_by_day VALUES (20000, ${ann.id}, 1, 1)`,
    `INSERT INTO usage_by_day VALUES (20468, ${ann.id}, 1, 1)`,
  ]);
  await settle(HOUR);
  const left = await withDatabase(
    panel.dataDirectory,
    async (sequelize) =>
      (await sequelize.query('SELECT day, count(*) AS n FROM usage_by_day GROUP BY day'))[0],
  );
  t.deepEqual(left, [{ day: 20468, n: 1 }]);
  t.is((await top()).clients, 1);
  t.deepEqual(
    panel.faults.filter((fault) => fault.startsWith('usage-by-day')),
    [],
  );
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

test('a day of 1970 makes the removal of deleted clients no longer', async (t) => {
  const inside = servicesOf<{ days: UsageDays; db: Database }>(plugin);
  const { panel, inboundId } = await openWorld({ plugins: [inside.plugin] });
  await using _ = panel;
  const gone = await panel.addClient('gone', [inboundId]);
  await editDatabase(panel.dataDirectory, [
    `INSERT INTO usage_by_day VALUES (0, ${gone.id}, 1, 1), (20468, ${gone.id}, 1, 1), (47000, ${gone.id}, 1, 1)`,
  ]);
  await panel.get('/panel/api/clients/del/gone', { method: 'POST' });
  const { db, days } = inside.services;
  const writes = countWrites(db);
  await days.forgetDeleted(new AbortController().signal);
  t.is(writes.count, 4, 'three days, and the note of the client');
  const left = await withDatabase(panel.dataDirectory, async (sequelize) =>
    sequelize.query('SELECT count(*) AS n FROM usage_by_day'),
  );
  t.like(left[0], [{ n: 0 }]);
});

test('days before 1970 are refused', async (t) => {
  const { panel, inboundId } = await openWorld();
  await using _ = panel;
  await panel.addClient('ann', [inboundId]);
  for (const query of ['to=0001-01-01', 'from=1969-12-31', 'to=0000-02-29'])
    t.is((await panel.call(`/panel/api/x/usage-by-day/clients/ann?${query}`)).status, 400, query);
  const first = await panel.get<{ day: string }[]>('/panel/api/x/usage-by-day/clients/ann?to=1970-01-01');
  t.is(first[0]?.day, '1969-12-03');
  t.is((await panel.call('/panel/api/x/usage-by-day/top?day=9999-12-31')).status, 200);
});

test('the greatest counters of many clients are a sum, not a failure', async (t) => {
  const { panel, inboundId, top, clock } = await openWorld();
  await using _ = panel;
  const clients = Array.from({ length: 1100 }, (_v, i) => ({
    client: { email: `c${i}` },
    inboundIds: [inboundId],
  }));
  await panel.get('/panel/api/clients/bulkCreate', { body: clients });
  const day = Math.floor(clock.now() / 86_400_000);
  await editDatabase(panel.dataDirectory, [
    `INSERT INTO usage_by_day (day, client_id, up, down) SELECT ${day}, id, ${2 ** 53 - 1}, ${2 ** 53 - 1} FROM clients`,
  ]);
  const { clients: counted, up, down } = await top();
  t.deepEqual([counted, up, down], [1100, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
});
