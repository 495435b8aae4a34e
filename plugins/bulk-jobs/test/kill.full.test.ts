// Runs on every database in test:full.
// A panel that is killed in the middle of a job goes on with it, and no client gets its days twice.
import { rm } from 'node:fs/promises';
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random } from '../../../test/harness/random.js';
import { Listener, type Message } from '../../realtime/test/listener.js';
import { addClients, clientsOf, DAY_MS, ended, EXPIRY, type Job, jobOf, JOBS, start } from './world.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const NO_CORE = {
  WEIR_ENGINE_BIN: '/nonexistent/core',
  WEIR_ENGINE_INSTALL: 'off',
  // Thousands are created at once, on a machine that other tests share.
  TEST_PANEL_LIMITS: JSON.stringify({ during: 20_000 }),
};
const CLIENTS = 8_000;
const KILLS = 5;
const DAYS = 30;

test('days are added once to each client, through kill -9 at any moment', async (t) => {
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  let panel = await PanelProcess.start({ env: NO_CORE });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  await addClients(panel, await panel.addInbound(), CLIENTS);
  const { id } = await start(panel, { action: 'adjust', params: { addDays: DAYS }, filter: {} });
  let killedInTheMiddle = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const reader = Listener.plain(panel);
    const doneNow = (): number =>
      Math.max(
        0,
        ...reader.messages.flatMap(({ type, payload }: Message) => {
          const jobs = (type === 'snapshot' ? payload['client_jobs'] : type === 'client_jobs' && payload) as
            | Job[]
            | false;
          return jobs ? jobs.map(({ done }) => done) : [];
        }),
      );
    await reader.first('snapshot');
    const before = doneNow();
    await until(() => doneNow() > before || doneNow() === CLIENTS, 'a portion is done');
    // At another place of the next portion each time.
    for (let turns = below(60); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    if (doneNow() < CLIENTS) killedInTheMiddle++;
    await panel.kill('SIGKILL');
    reader.close();
    panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  }
  t.true(killedInTheMiddle > 0, 'the job was not done before the first kill');
  const job = await ended(panel, id);
  t.like(job, { state: 'done', total: CLIENTS, done: CLIENTS, changed: CLIENTS, skipped: 0, failed: 0 });
  const added = (await clientsOf(panel)).map(({ expiryTime }) => (expiryTime - EXPIRY) / DAY_MS);
  t.is(added.length, CLIENTS);
  t.deepEqual([...new Set(added)], [DAYS]);

  // What was acknowledged is not lost, also if nothing of it was begun.
  const next = await start(panel, { action: 'disable', filter: {} });
  await panel.kill('SIGKILL');
  panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  t.like(await ended(panel, next.id), { state: 'done', changed: CLIENTS });
  // A planned stop waits for the portion.
  const last = await start(panel, { action: 'enable', filter: {} });
  await panel.kill('SIGTERM');
  panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  t.like(await ended(panel, last.id), { state: 'done', changed: CLIENTS });
  await panel.get(`${JOBS}/${last.id}`);
  t.is((await jobOf(panel, id)).endedAt, job.endedAt);
});
