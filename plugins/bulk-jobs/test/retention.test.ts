// Runs on every database.
// Jobs that ended are shown for some days, and what they left behind goes with them.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import bulkJobs from '../index.js';
import type { Retention } from '../retention.js';
import { addClients, DAY_MS, ended, type Job, JOBS, run, start } from './world.js';

test('old jobs go with their rows; what is open stays', async (t) => {
  const observed = servicesOf<{ db: Database; retention: Retention }>(bulkJobs);
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  await using panel = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin], clock });
  const { services } = observed;
  await addClients(panel, await panel.addInbound(), 20, () => ({ expiryTime: 0 }));
  const rows = async (table: string): Promise<number> => {
    const [row] = await services.db.query<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`);
    return Number(row?.count);
  };
  const adjust = { action: 'adjust', params: { addDays: 1 }, filter: {} };
  await run(panel, adjust);
  t.is(await rows('bulk_job_targets'), 0, 'done');
  t.is(await rows('bulk_job_skipped'), 20);
  await panel.get('/panel/api/setting/update', { body: { bulkJobDays: 2 } });
  clock.jump(1.5 * DAY_MS);
  await panel.login();
  const second = await run(panel, adjust);
  clock.jump(DAY_MS);
  await panel.login();
  await services.retention.run(new AbortController().signal);
  t.deepEqual(
    (await panel.get<Job[]>(JOBS)).map(({ id }) => id),
    [second.id],
  );
  t.is(await rows('bulk_job_skipped'), 20);
  t.is(await rows('bulk_jobs'), 1);
  clock.jump(2 * DAY_MS);
  await panel.login();
  await services.retention.run(new AbortController().signal);
  t.deepEqual(await panel.get(JOBS), []);
  t.is(await rows('bulk_job_skipped'), 0);
  const { id } = await start(panel, { action: 'disable', filter: {} });
  t.true(id > second.id, 'numbers are not used again');
  await ended(panel, id);
});
