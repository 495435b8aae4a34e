// Runs on every database.
// A panel that crashed between the two transactions of a poll: bytes are written, limits are not applied.
import test from 'ava';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { TestPanel } from '../../../test/harness/index.js';
import { openWorld } from './world.js';

const enabled = async (panel: TestPanel, email: string): Promise<boolean> =>
  (await panel.get<{ enable: boolean }>(`/panel/api/clients/traffic/${email}`)).enable;

test('the first poll after a start checks every client that ever moved bytes, and only those', async (t) => {
  const { engine, clock, panel: first, poll, inboundId } = await openWorld();
  t.teardown(() => first.stop());
  const { id } = await first.addClient('over', [inboundId]);
  await first.addClient('idle', [inboundId]);
  engine.move(inboundId, id, 0, 5000);
  await poll();
  t.is((await first.get<{ down: number }>('/panel/api/clients/traffic/over')).down, 5000);
  await first.stop();
  await editDatabase(first.dataDirectory, [`UPDATE clients SET total_gb = 5000`]);

  const second = await TestPanel.boot({
    plugins: [engine.plugin],
    clock,
    dataDirectory: first.dataDirectory,
  });
  await using _ = second;
  t.true(await enabled(second, 'over'));
  clock.tick(5000);
  await second.kernel.settled();
  t.false(await enabled(second, 'over'), 'it moved nothing in this poll');
  t.true(await enabled(second, 'idle'));
  t.deepEqual(engine.told.at(-1), [{ inboundId, clientId: id }]);
  t.is((await second.get<{ down: number }>('/panel/api/clients/traffic/over')).down, 5000, 'counted once');
});

test('the next poll finds a client that reached its limit with the last bytes of a stopped core', async (t) => {
  const { engine, panel, poll, inboundId } = await openWorld();
  await using _ = panel;
  const { id } = await panel.addClient('over', [inboundId], { totalGB: 5000 });
  await poll();
  engine.move(inboundId, id, 0, 5000);
  await engine.replace('the next core');
  t.true(await enabled(panel, 'over'));
  await poll();
  t.false(await enabled(panel, 'over'));
});
