// Runs on every database in test:full.
// 100,000 clients: memory, single edits meanwhile, kills.
import { rm } from 'node:fs/promises';
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random } from '../../../test/harness/random.js';
import { addClients, clientsOf, DAY_MS, emailOf, EXPIRY, jobOf, start, type Job } from './world.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const NO_CORE = {
  WEIR_ENGINE_BIN: '/nonexistent/core',
  WEIR_ENGINE_INSTALL: 'off',
  // Thousands are created at once, on a machine that other tests share.
  TEST_PANEL_LIMITS: JSON.stringify({ during: 20_000 }),
};
const CLIENTS = 100_000;
const KILLS = 6;

test('100,000 clients by filter, with kills and single edits meanwhile', async (t) => {
  t.timeout(1_800_000);
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  let panel = await PanelProcess.start({ env: NO_CORE });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  await addClients(panel, await panel.addInbound(), CLIENTS);
  const began = performance.now();
  const { id, total } = await start(panel, {
    action: 'adjust',
    params: { addDays: 30 },
    filter: { status: 'active' },
  });
  t.log(`started in ${Math.round(performance.now() - began)} ms`);
  t.is(total, CLIENTS);
  const finished = async (job: number): Promise<Job> => {
    for (;;) {
      const found = await jobOf(panel, job);
      if (found.endedAt !== null) return found;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const { done } = await jobOf(panel, id);
    const more = 1 + below(8_000);
    await until(
      async () => (await jobOf(panel, id)).done > Math.min(done + more, CLIENTS - 1),
      'more is done',
    );
    await panel.kill('SIGKILL');
    panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  }
  t.like(await finished(id), { state: 'done', changed: CLIENTS, skipped: 0, failed: 0 });
  const added = (await clientsOf(panel)).map(({ expiryTime }) => (expiryTime - EXPIRY) / DAY_MS);
  t.deepEqual([...new Set(added)], [30]);
  t.is(added.length, CLIENTS);

  const next = await start(panel, { action: 'disable', filter: {} });
  const waits: number[] = [];
  for (let i = 0; (await jobOf(panel, next.id)).endedAt === null; i++) {
    const sent = performance.now();
    await panel.get(`/panel/api/clients/update/${emailOf(below(CLIENTS))}`, {
      body: { comment: `edit ${i}` },
    });
    waits.push(performance.now() - sent);
  }
  const job = await finished(next.id);
  t.is(job.changed + job.skipped, CLIENTS);
  t.log(
    `disabled in ${(job.endedAt ?? 0) - (job.startedAt ?? 0)} ms; ${waits.length} single edits meanwhile, the longest ${Math.round(Math.max(...waits))} ms`,
  );
  t.true(waits.length > 5, 'single edits come in between');
});
