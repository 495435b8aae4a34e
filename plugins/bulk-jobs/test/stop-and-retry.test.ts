// Runs on every database.
// A job that is stopped, what changed while it ran, and the job that does the rest.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import {
  addClients,
  boot,
  clientOf,
  clientsOf,
  DAY_MS,
  emailOf,
  ended,
  EXPIRY,
  Gate,
  JOBS,
  jobOf,
  skippedOf,
  start,
  type Job,
  type Started,
} from './world.js';

const daysAdded = async (panel: Parameters<typeof clientsOf>[0]): Promise<number[]> =>
  (await clientsOf(panel)).map(({ expiryTime }) => (expiryTime - EXPIRY) / DAY_MS);

test('a stop lets the portion finish, and a retry does the others, each once', async (t) => {
  const gate = new Gate();
  const { panel, inbound } = await boot(t, [gate.plugin]);
  await addClients(panel, inbound, 1_700);
  gate.arrived = 0;
  gate.passes = 1;
  const { id } = await start(panel, { action: 'adjust', params: { addDays: 7 }, filter: {} });
  await until(() => gate.arrived === 2, 'the second portion');
  const early = await panel.call(`${JOBS}/${id}/retry`, { method: 'POST' });
  t.is(early.body.code, 'BULK_JOBS_NOT_ENDED');
  t.is((await panel.get<Job>(`${JOBS}/${id}/stop`, { method: 'POST' })).state, 'stopping');
  t.is((await panel.get<Job>(`${JOBS}/${id}/stop`, { method: 'POST' })).state, 'stopping', 'again');
  gate.passes = Infinity;
  t.like(await ended(panel, id), { state: 'stopped', total: 1_700, done: 1_000, changed: 1_000, skipped: 0 });
  t.deepEqual(
    await daysAdded(panel),
    Array.from({ length: 1_700 }, (_, i) => (i < 1_000 ? 7 : 0)),
  );
  t.is((await panel.get<Job>(`${JOBS}/${id}/stop`, { method: 'POST' })).state, 'stopped', 'as it is');

  const retry = await panel.get<Started>(`${JOBS}/${id}/retry`, { method: 'POST' });
  t.like(retry, { total: 700, unknown: 0 });
  t.like(await ended(panel, retry.id), { state: 'done', changed: 700, retryOf: id });
  t.deepEqual(new Set(await daysAdded(panel)), new Set([7]));
  const nothing = await panel.call(`${JOBS}/${retry.id}/retry`, { method: 'POST' });
  t.is(nothing.body.code, 'BULK_JOBS_NOTHING_LEFT');
  const over = await panel.call(`${JOBS}/${retry.id}/stop`, { method: 'POST' });
  t.is(over.body.code, 'BULK_JOBS_ENDED');
});

test('a job that waits is stopped at once', async (t) => {
  const gate = new Gate();
  const { panel, inbound } = await boot(t, [gate.plugin]);
  await addClients(panel, inbound, 10);
  gate.passes = 0;
  gate.arrived = 0;
  const first = await start(panel, { action: 'disable', filter: {} });
  const second = await start(panel, { action: 'delete', filter: {} });
  t.like(await panel.get<Job>(`${JOBS}/${second.id}/stop`, { method: 'POST' }), {
    state: 'stopped',
    startedAt: null,
  });
  gate.passes = Infinity;
  await ended(panel, first.id);
  t.is((await clientsOf(panel)).length, 10);
  t.is((await jobOf(panel, second.id)).done, 0);
});

test('what was deleted, changed or no longer passes the filter meanwhile is skipped with the reason', async (t) => {
  const gate = new Gate();
  const { panel, inbound, clock } = await boot(t, [gate.plugin]);
  await addClients(panel, inbound, 600, () => ({ group: 'old' }));
  gate.arrived = 0;
  gate.passes = 0;
  const { id } = await start(panel, { action: 'adjust', params: { addDays: 7 }, filter: { group: 'old' } });
  await until(() => gate.arrived === 1, 'the first portion is planned');
  clock.tick(1);
  const [deleted, changed, moved] = [emailOf(0), emailOf(1), emailOf(550)];
  await panel.get(`/panel/api/clients/del/${deleted}`, { method: 'POST' });
  await panel.get(`/panel/api/clients/update/${changed}`, { body: { expiryTime: EXPIRY + DAY_MS } });
  await panel.get(`/panel/api/clients/update/${moved}`, { body: { group: 'new' } });
  gate.passes = Infinity;
  t.like(await ended(panel, id), { state: 'done', done: 600, changed: 597, skipped: 3 });
  const { items } = await skippedOf(panel, id);
  t.deepEqual(
    items.map(({ email, code }) => [email, code]).toSorted(),
    [
      [deleted, 'CLIENTS_NOT_FOUND'],
      [changed, 'CLIENTS_CHANGED_MEANWHILE'],
      [moved, 'CLIENTS_NO_LONGER_MEANT'],
    ].toSorted(),
  );
  t.is((await clientOf(panel, changed)).expiryTime, EXPIRY + DAY_MS, 'what the admin set is not lost');
  t.is((await clientOf(panel, moved)).expiryTime, EXPIRY);
  t.is((await clientOf(panel, emailOf(2))).expiryTime, EXPIRY + 7 * DAY_MS);

  // A retry has the filter too: it must not reach whom the admin took out of it.
  const retry = await panel.get<Started>(`${JOBS}/${id}/retry`, { method: 'POST' });
  t.like(await ended(panel, retry.id), { total: 3, changed: 1, skipped: 2 });
  t.is((await clientOf(panel, changed)).expiryTime, EXPIRY + 8 * DAY_MS);
  t.is((await clientOf(panel, moved)).expiryTime, EXPIRY);
});
