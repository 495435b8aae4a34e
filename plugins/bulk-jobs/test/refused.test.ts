// Runs on every database.
// Plugins that refuse or fail while a job runs.
import test from 'ava';
import { definePlugin, Refusal, tap } from '../../../kernel/index.js';
import { duringClientSave } from '../../clients/contract.js';
import {
  addClients,
  boot,
  clientsOf,
  DAY_MS,
  emailOf,
  ended,
  EXPIRY,
  Gate,
  JOBS,
  run,
  skippedOf,
  type Started,
} from './world.js';

test('a refusal concerns the client that it is about, and a retry does it when nobody refuses any more', async (t) => {
  const gate = new Gate();
  const { panel, inbound } = await boot(t, [gate.plugin]);
  await addClients(panel, inbound, 700);
  const [first, second] = [emailOf(123), emailOf(699)];
  gate.check = (emails) => {
    for (const email of [first, second])
      if (emails.includes(email)) throw new Refusal(`${email} is protected`);
  };
  const job = await run(panel, { action: 'adjust', params: { addDays: 1 }, filter: {} });
  t.like(job, { state: 'done', done: 700, changed: 698, failed: 2, skipped: 0 });
  t.deepEqual(
    (await skippedOf(panel, job.id)).items.map(({ email, outcome, code, reason }) => [
      email,
      outcome,
      code,
      reason,
    ]),
    [first, second].map((email) => [email, 'failed', 'REFUSED', `${email} is protected`]),
  );
  gate.check = () => undefined;
  const { id, total } = await panel.get<Started>(`${JOBS}/${job.id}/retry`, { method: 'POST' });
  t.is(total, 2);
  t.like(await ended(panel, id), { changed: 2 });
  t.true((await clientsOf(panel)).every(({ expiryTime }) => expiryTime === EXPIRY + DAY_MS));
});

test('a portion that is rolled back after its statements is done again, once', async (t) => {
  // Twice for each portion: what one met does not count for the next.
  const fails = [true, true, false, true, true, false];
  let attempts = 0;
  const failing = definePlugin({
    name: 'failing',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [
      tap(duringClientSave, ({ changes }) => {
        if (changes.length > 1 && changes[0]?.kind === 'updated' && fails[attempts++])
          throw new Error('a bug');
      }),
    ],
  });
  const { panel, inbound } = await boot(t, [failing]);
  await addClients(panel, inbound, 600);
  const job = await run(panel, { action: 'adjust', params: { addDays: 1 }, filter: {} });
  t.like(job, { state: 'done', changed: 600, failed: 0 });
  t.is(attempts, 6, 'four failures, two portions');
  t.true((await clientsOf(panel)).every(({ expiryTime }) => expiryTime === EXPIRY + DAY_MS));
});
