// Runs on every database.
import test from 'ava';
import { rm } from 'node:fs/promises';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const enabled = async (panel: TestPanel, email: string): Promise<boolean> =>
  (await panel.get<{ enable: boolean }>(`/panel/api/clients/traffic/${email}`)).enable;

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (
    const deadline = Date.now() + 20_000;
    !(await condition());
    await new Promise((resolve) => setTimeout(resolve, 10))
  )
    if (Date.now() > deadline) throw new Error('did not happen');
}

test('a client whose last bytes were counted but not acted upon is switched off by the first poll, though it moves nothing', async (t) => {
  const before = new FakeEngine();
  const first = await TestPanel.boot({ plugins: [before.plugin], clock: new FakeClock() });
  t.teardown(() => rm(first.dataDirectory, { recursive: true, force: true }));
  const inboundId = await first.addInbound();
  const { id } = await first.addClient('over', [inboundId]);
  await first.addClient('idle', [inboundId]);
  before.move(inboundId, id, 0, 5000);
  await first.stop();
  // As a crash between the two transactions of a poll leaves it.
  await editDatabase(first.dataDirectory, [`UPDATE clients SET total_gb = 5000`]);

  const after = new FakeEngine();
  after.counters.set(`i${inboundId}.c${id}`, { inboundId, clientId: id, up: 0, down: 5000 });
  const clock = new FakeClock();
  const second = await TestPanel.boot({ plugins: [after.plugin], clock, dataDirectory: first.dataDirectory });
  t.teardown(() => second.stop());
  t.true(await enabled(second, 'over'));
  clock.tick(5000);
  await until(async () => !(await enabled(second, 'over')));
  t.true(await enabled(second, 'idle'));
  t.deepEqual(after.told.at(-1), [{ inboundId, clientId: id }]);
});
