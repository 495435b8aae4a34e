// Runs on every database in test:full.
// Which of two panels runs the jobs: one, whatever happens to it, by the clock of the database.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { leads, Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;
/** Fewer plugins start faster. */
const SMALL = { WEIR_PRESET: 'minimal' };

interface JobState {
  readonly plugin: string;
  readonly job: string;
  readonly lastAt: number;
}
/** The jobs that have run in a panel. */
const ran = async (panel: PanelProcess): Promise<string[]> => {
  const jobs = await panel.get<JobState[]>('/panel/api/system/jobs');
  return jobs.filter(({ lastAt }) => lastAt > 0).map(({ plugin, job }) => `${plugin}/${job}`);
};
const WARN = 'limit-warnings/warn';
/** runs in each panel */
const OWN = 'clients/fetches';

onServer('a job runs in one panel, and after its death in the other one', async (t) => {
  await using panels = await Panels.open();
  const first = await panels.start('first', { ...SMALL, WEIR_PRESET: 'standard' });
  const second = await panels.start('second', { ...SMALL, WEIR_PRESET: 'standard' });
  await first.until(async () => (await ran(first)).includes(WARN), 'the first panel warns');
  await second.until(
    async () => (await ran(second)).includes(OWN),
    'the second panel runs what is of its own memory',
  );
  t.false((await ran(second)).includes(WARN));
  t.deepEqual([leads(first), leads(second)], [true, false]);
  await first.kill('SIGKILL');
  await second.until(async () => (await ran(second)).includes(WARN), 'the second panel warns', 40_000);
  const leases = await panels.query<{ token: number }>('SELECT token FROM cluster_leases');
  t.deepEqual(
    leases.map(({ token }) => Number(token)),
    [2],
  );
});

onServer('a panel that stops hands the lead over at once', async (t) => {
  await using panels = await Panels.open();
  const first = await panels.start('first', SMALL);
  const second = await panels.start('second', SMALL);
  await first.kill('SIGTERM');
  await second.until(() => leads(second), 'the second panel leads');
  const [lease] = await panels.query<{ token: number }>('SELECT token FROM cluster_leases');
  t.is(Number(lease?.token), 2);
});

onServer('a leader that was stopped for longer than its lease writes nothing, and follows', async (t) => {
  await using panels = await Panels.open();
  const first = await panels.start('first', SMALL);
  const second = await panels.start('second', SMALL);
  await first.until(() => leads(first), 'the first panel leads');
  const inbound = await first.addInbound({ remark: 'before' });
  first.signal('SIGSTOP');
  await second.until(() => leads(second), 'the second panel leads', 60_000);
  await second.addInbound({ remark: 'after' });
  first.signal('SIGCONT');
  await first.until(
    () =>
      first.said('another panel has taken over, because this one did not renew its lease in time') !==
      undefined,
    'the first panel notices',
  );
  await first.until(() => first.starts === 2, 'it starts again', 60_000);
  t.is(first.log.filter(({ msg }) => msg === 'this panel leads: it runs the jobs and the core').length, 1);
  await first.login();
  const names = (await first.get<{ id: number; remark: string }[]>('/panel/api/inbounds/list')).map(
    ({ remark }) => remark,
  );
  t.deepEqual(names, ['before', 'after']);
  t.truthy(inbound);
});

onServer('a clock that is an hour wrong changes nothing', async (t) => {
  await using panels = await Panels.open();
  const early = await panels.start('early', { ...SMALL, TEST_CLOCK_WRONG_BY_MS: '-3600000' });
  const late = await panels.start('late', { ...SMALL, TEST_CLOCK_WRONG_BY_MS: '3600000' });
  t.deepEqual([leads(early), leads(late)], [true, false]);
  t.like(late.said("the clock of this machine differs from the database's, which counts; set it"), {
    seconds: -3600,
  });
  // The session of one is as old for the other.
  late.cookie = early.cookie;
  late.csrf = early.csrf;
  const [session] = await late.get<{ createdAt: number; expiresAt: number }[]>('/panel/api/access/sessions');
  t.true(Math.abs((session?.createdAt ?? 0) - Date.now()) < 60_000);
  t.false(leads(late));
});

onServer('each panel has a name of its own, and none runs beside one that is alone', async (t) => {
  await using panels = await Panels.open();
  await panels.start('one', SMALL);
  const twin = await t.throwsAsync(panels.start('one', SMALL));
  t.regex(twin?.message ?? '', /another process has the name one/);
  const alone = await t.throwsAsync(panels.start('alone', { ...SMALL, WEIR_CLUSTER: '' }));
  t.regex(alone?.message ?? '', /the panel one uses it, one of several/);
});
