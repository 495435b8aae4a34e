// Runs on every database in test:full.
// Quotas over several machines.
import test from 'ava';
import { client, openManaged, openWorld } from './world.js';

const DAY = 86_400_000;

test('what was used elsewhere counts for the quota, for as long as nothing else is heard', async (t) => {
  const world = await openManaged();
  const { elsewhere, move } = world;
  await world.apply(client(1, 2, { totalGB: 1000 }), client(2, 2, { totalGB: 1000 }));
  await move(1, 100, 100);
  t.deepEqual(
    await elsewhere({ id: 1, up: 300, down: 300 }, { id: 2, up: 1, down: 1 }, { id: 99, up: 1, down: 1 }),
    {
      taken: 2,
      skipped: [99],
    },
  );
  const one = await world.client('c1');
  t.deepEqual([one.enable, one.traffic.up, one.traffic.down], [true, 400, 400], 'shown: used everywhere');
  await world.panel.stop();
  const next = await openWorld({ dataDirectory: world.dataDirectory });
  await using _ = next.panel;
  // A day without the central.
  next.clock.jump(DAY);
  await next.panel.login();
  next.engine.move(one.inboundIds[0] ?? 0, one.id, 300, 300);
  await next.poll();
  t.false((await next.client('c1')).enable, '800 and what moved since');
  t.false(next.engine.users.has(`i${one.inboundIds[0]}.c${one.id}`));
  t.true((await next.client('c2')).enable);
  // Less than it was: the client is enabled again; more: it is cut at once.
  await next.elsewhere({ id: 1, up: 0, down: 0 });
  t.true((await next.client('c1')).enable);
  t.true(next.engine.users.has(`i${one.inboundIds[0]}.c${one.id}`));
  await next.elsewhere({ id: 2, up: 1000, down: 0 });
  t.false((await next.client('c2')).enable);
});

test('a new period starts at zero here and elsewhere; reports of another period are skipped', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { elsewhere, move, panel } = world;
  const value = { totalGB: 1000, period: 1 };
  await world.apply(client(1, 2, value));
  await move(1, 500, 0);
  await elsewhere({ id: 1, up: 600, down: 0, period: 1 });
  t.false((await world.client('c1')).enable);
  await world.apply(client(1, 3, { ...value, period: 2 }));
  const one = await world.client('c1');
  t.deepEqual([one.enable, one.traffic.up], [true, 0]);
  t.deepEqual(await elsewhere({ id: 1, up: 600, down: 0, period: 1 }), { taken: 0, skipped: [1] });
  await elsewhere({ id: 1, up: 10, down: 0, period: 2 });
  t.is((await world.client('c1')).traffic.up, 10);
  // Reset by hand, or renewed while the central is away: its old numbers do not cut the client.
  await elsewhere({ id: 1, up: 999, down: 0, period: 2 });
  await move(1, 5, 0);
  t.false((await world.client('c1')).enable);
  await panel.get('/panel/api/clients/resetTraffic/c1', { method: 'POST' });
  t.true((await world.client('c1')).enable);
  t.deepEqual((await elsewhere({ id: 1, up: 999, down: 0, period: 2 })).skipped, [1]);
  t.true((await world.client('c1')).enable);
  // The totals that the central reads know nothing of periods.
  t.is((await world.usage())[0]?.users[0]?.up, 505);
  await world.apply(client(1, 4, { ...value, period: 3 }));
  t.deepEqual((await elsewhere({ id: 1, up: 1, down: 0, period: 3 })).taken, 1);
});

test('a client that was here before its central knew it keeps its bytes, whatever period the central is in', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const [inboundId = 0] = (await world.client('c1')).inboundIds;
  const mine = await world.panel.addClient('mine', [inboundId]);
  world.engine.move(inboundId, mine.id, 7, 70);
  await world.poll();
  await world.apply(client(3, 1, { email: 'mine', subId: mine.subId, uuid: undefined, period: 4 }));
  t.is((await world.records()).find(({ kind, id }) => kind === 'client' && id === 3)?.state, 'ok');
  t.like((await world.client('mine')).traffic, { up: 7, down: 70 });
  await world.apply(client(3, 2, { email: 'mine', subId: mine.subId, uuid: undefined, period: 5 }));
  t.like((await world.client('mine')).traffic, { up: 0, down: 0 }, 'and begins the next one with it');
});
