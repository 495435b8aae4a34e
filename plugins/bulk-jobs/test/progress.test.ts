// Runs on every database.
// Readers of the live stream see how far a job is, in order; single edits come in between.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { Listener } from '../../realtime/test/listener.js';
import { addClients, boot, clientOf, ended, Gate, type Job, jobOf, JOBS, listed, start } from './world.js';

const CLIENTS = 5_000;
const ORDER = ['waiting', 'running', 'done'];

test('5,000 clients are disabled, with progress over both endpoints of the stream', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(panel, inbound, CLIENTS);
  const readers = [Listener.plain(panel), Listener.io(panel)];
  for (const reader of readers) {
    const { payload } = await reader.first<{ client_jobs: Job[] }>('snapshot');
    t.deepEqual(payload.client_jobs, []);
  }
  const { id, total } = await start(panel, { action: 'disable', filter: {} });
  t.is(total, CLIENTS);
  const job = await ended(panel, id);
  t.like(job, { state: 'done', total, done: total, changed: total, skipped: 0, failed: 0 });
  t.is((await listed(panel, { status: 'active' })).length, 0);
  for (const reader of readers) {
    const told = (): Job[] =>
      reader.of<Job[]>('client_jobs').flatMap(({ payload }) => payload.find((one) => one.id === id) ?? []);
    await until(() => told().at(-1)?.state === 'done', 'the last message');
    const done = told().map((one) => one.done);
    t.deepEqual(
      done,
      done.toSorted((a, b) => a - b),
      'in order',
    );
    t.true(new Set(done).size >= 8, `${done.length} messages`);
    const states = told().map(({ state }) => state);
    t.deepEqual(
      states,
      states.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)),
    );
    t.is(told().at(-1)?.done, CLIENTS);
    reader.close();
  }
  const late = Listener.plain(panel);
  const { payload } = await late.first<{ client_jobs: Job[] }>('snapshot');
  t.like(payload.client_jobs[0], { id, state: 'done' });
  late.close();
});

test('a single edit does not wait for the job, and the next job waits for this one', async (t) => {
  const gate = new Gate();
  const { panel, inbound } = await boot(t, [gate.plugin]);
  await addClients(panel, inbound, 1_200);
  gate.arrived = 0;
  gate.passes = 1;
  const first = await start(panel, { action: 'disable', filter: {} });
  const second = await start(panel, { action: 'enable', emails: ['c000000'] });
  await until(() => gate.arrived === 2, 'the second portion');
  t.like(await jobOf(panel, first.id), { state: 'running', done: 500 });
  t.like(await jobOf(panel, second.id), { state: 'waiting', startedAt: null });
  await panel.get('/panel/api/clients/update/c001100', { body: { comment: 'meanwhile' } });
  t.deepEqual(
    (await panel.get<Job[]>(JOBS)).map(({ id }) => id),
    [second.id, first.id],
  );
  gate.passes = Infinity;
  t.like(await ended(panel, second.id), { state: 'done', changed: 1 });
  t.like(await jobOf(panel, first.id), { state: 'done', changed: 1_200 });
  t.true((await clientOf(panel, 'c000000')).enable);
});
