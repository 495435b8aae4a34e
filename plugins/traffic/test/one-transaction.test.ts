// A poll writes bytes and baselines together or not at all.
import test from 'ava';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { openWorld } from './world.js';

test('a poll whose baselines cannot be written writes no bytes, and the next poll counts them once', async (t) => {
  const { engine, panel, poll, inboundId } = await openWorld();
  await using _ = panel;
  const used = async (): Promise<readonly number[]> => {
    const { up, down } = await panel.get<{ up: number; down: number }>('/panel/api/clients/traffic/ann');
    const inbound = await panel.get<{ up: number; down: number }>(`/panel/api/inbounds/get/${inboundId}`);
    return [up, down, inbound.up, inbound.down];
  };
  const { id } = await panel.addClient('ann', [inboundId]);
  engine.move(inboundId, id, 1, 10);
  await poll();
  t.deepEqual(await used(), [1, 10, 1, 10]);

  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER full_disk BEFORE UPDATE ON traffic_baselines BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
  ]);
  engine.move(inboundId, id, 2, 20);
  await poll();
  t.deepEqual(await used(), [1, 10, 1, 10], 'neither bytes nor baselines are written');
  t.regex(panel.faults.join('\n'), /^traffic, job poll/);

  await editDatabase(panel.dataDirectory, ['DROP TRIGGER full_disk']);
  engine.move(inboundId, id, 4, 40);
  await poll();
  t.deepEqual(await used(), [7, 70, 7, 70], 'the bytes of both polls count once');
  await poll();
  t.deepEqual(await used(), [7, 70, 7, 70]);
});
