import test from 'ava';
import { definePlugin, job } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until, weirCommand } from '../../../test/harness/index.js';

interface Entry {
  readonly plugin: string;
  readonly job: string;
  readonly when: string;
  readonly nextAt: number;
  readonly runningSince: number;
  readonly lastAt: number;
  readonly lastError: string;
}

test('jobs are listed with their turns, and run on demand over the API and the command line', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15, 12));
  let loaves = 0;
  let isBurnt = false;
  let close: () => void = () => undefined;
  const oven = definePlugin({
    name: 'oven',
    version: '1.0.0',
    api: 1,
    about: 'Bakes.',
    jobs: () => [
      job('bread', { at: { hour: 4, minute: 30 } }, () => {
        loaves += 1;
        if (isBurnt) throw new Error('smoke');
      }),
      job('slow cake', '1d', () => new Promise<void>((resolve) => (close = resolve))),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [oven], clock });
  const entry = async (name: string) => {
    const all = await panel.get<Entry[]>('/panel/api/system/jobs');
    return all.find(({ plugin, job: listed }) => plugin === 'oven' && listed === name) as Entry;
  };
  const { body: saved } = await panel.call('/panel/api/setting/update', {
    body: { timeLocation: 'Asia/Tokyo' },
  });
  t.true(saved.success);
  t.is((await entry('bread')).nextAt, Date.UTC(2026, 0, 15, 19, 30), "by the panel's time zone");
  t.is((await entry('bread')).lastAt, 0);
  const all = await panel.get<Entry[]>('/panel/api/system/jobs');
  t.true(all.some(({ plugin, job: listed }) => plugin === 'kernel' && listed === 'sessions'));

  const run = (path: string) => panel.call(`/panel/api/system/jobs/${path}`, { method: 'POST' });
  const { status, body } = await run('oven/bread');
  t.deepEqual([status, loaves, (body.obj as Entry).lastAt], [200, 1, clock.now()]);
  isBurnt = true;
  t.regex((await weirCommand(panel.dataDirectory, ['jobs', '--run', 'oven/bread'])).said, /failed: smoke/);
  t.is(loaves, 2);
  t.is((await entry('bread')).lastError, 'smoke');
  t.regex(panel.faults.join(), /smoke/);
  t.regex(
    (await weirCommand(panel.dataDirectory, ['jobs'])).said,
    /^oven\/bread +at 04:30 +last 2026-01-15 12:00:00 next 2026-01-15 19:30:00 smoke$/m,
  );

  const slow = run('oven/slow%20cake');
  await until(async () => (await entry('slow cake')).runningSince > 0, 'the job runs');
  const second = await run('oven/slow%20cake');
  t.deepEqual([second.status, second.body.code], [409, 'SYSTEM_JOB_RUNS']);
  close();
  t.is((await slow).status, 200);
  t.is((await run('oven/pie')).body.code, 'SYSTEM_NO_JOB');
  t.is((await run('cellar/bread')).status, 404);
});

test('a job with a time that cannot be used leaves its plugin out, and is named', async (t) => {
  const oven = definePlugin({
    name: 'oven',
    version: '1.0.0',
    api: 1,
    about: 'Bakes.',
    jobs: () => [job('bread', { at: '30 25 * * *' }, () => undefined)],
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [oven],
    partial: true,
  });
  const plugins =
    await panel.get<{ name: string; state: string; reason: string }[]>('/panel/api/system/plugins');
  const { state, reason } = plugins.find(({ name }) => name === 'oven') ?? { state: '', reason: '' };
  t.is(state, 'failed');
  t.regex(reason, /plugin oven cannot run its jobs: job bread: its "at" cannot be used: .*25/);
});

test('a job that an admin runs begins when the audit has it', async (t) => {
  let recorded = -1;
  const oven = definePlugin({
    name: 'oven',
    version: '1.0.0',
    api: 1,
    about: 'Bakes.',
    jobs: ({ db }) => [
      job('bread', '1d', async () => {
        const rows = await db.query(`SELECT name FROM audit_changes WHERE area = 'job'`);
        recorded = rows.length;
      }),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, oven] });
  await panel.get('/panel/api/system/jobs/oven/bread', { method: 'POST' });
  t.is(recorded, 1);
});
