// A poll writes bytes and baselines together or not at all, and so it does a renewal and a reset.
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
    `CREATE TRIGGER full_disk BEFORE INSERT ON traffic_readings BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
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

test('a renewal and a reset that stop halfway change nothing, and cut nobody else off from limits', async (t) => {
  const { engine, clock, panel, poll, inboundId } = await openWorld();
  await using _ = panel;
  const stored = (email: string) =>
    panel.get<{ enable: boolean; down: number; expiryTime: number; resetCount: number }>(
      `/panel/api/clients/traffic/${email}`,
    );
  const expiryTime = clock.now() + 10_000;
  const { id } = await panel.addClient('renews', [inboundId], { expiryTime, reset: 30, group: 'g' });
  const hourly = await panel.addClient('hourly', [inboundId], { trafficReset: 'hourly', group: 'g' });
  await panel.addClient('ends', [inboundId], { expiryTime });
  for (const clientId of [id, hourly.id]) engine.move(inboundId, clientId, 0, 500);
  await poll();
  const groupTraffic = async () =>
    (await panel.get<{ trafficUsed: number }[]>('/panel/api/clients/groups'))[0]?.trafficUsed;
  t.is(await groupTraffic(), 1000);

  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER full_disk BEFORE DELETE ON client_usage BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
  ]);
  await poll();
  t.like(await stored('renews'), { enable: false, down: 500, expiryTime, resetCount: 0 });
  t.false((await stored('ends')).enable, 'limits go on');
  clock.tick(3_600_000);
  await panel.kernel.settled();
  await poll();
  t.is((await stored('hourly')).down, 500);
  t.is(await groupTraffic(), 1000);

  await editDatabase(panel.dataDirectory, ['DROP TRIGGER full_disk']);
  await poll();
  t.like(await stored('renews'), {
    enable: true,
    down: 0,
    expiryTime: expiryTime + 30 * 86_400_000,
    resetCount: 1,
  });
  t.is((await stored('hourly')).down, 0);
  t.is(await groupTraffic(), 1000, 'a group keeps the traffic of its members');
});
