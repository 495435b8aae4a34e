// Addresses that other machines saw count for limitIp with those seen here.
import test from 'ava';
import { StandInNodes } from '../../../test/harness/stand-in-nodes.js';
import { World } from './world.js';

test('an address at a node takes the place of a client with limitIp 1, and a silent one gives it back', async (t) => {
  const nodes = new StandInNodes([7, { guid: 'far-guid', name: 'far', address: '' }]);
  const world = await World.boot({ plugins: [nodes.plugin] });
  await using _ = world.panel;
  const user = await world.client('ada', { limitIp: 1 });
  const report = (address: string) =>
    nodes.addresses.seen('far-guid', [{ clientId: user.clientId, address, at: world.clock.now() }]);
  await report('198.51.100.9');
  await world.connect(user, '198.51.100.9');
  t.deepEqual(world.closed, [], 'the same address here and there is one');
  await world.connect(user, '198.51.100.1');
  t.deepEqual(
    world.exceeded.map(({ kept, over }) => [kept, over.map(({ ip }) => ip)]),
    [[['198.51.100.9'], ['198.51.100.1']]],
  );
  t.deepEqual(
    world.closed.map(({ address }) => address),
    ['198.51.100.1'],
  );
  world.leave('198.51.100.9');
  await world.pass(121_000);
  await world.connect(user, '198.51.100.1');
  t.is(world.closed.length, 1, 'nobody else is connected now');
  // The node sees a second address: the connection here has its place since before.
  await world.pass(1000);
  await report('198.51.100.9');
  await world.settled();
  t.is(world.closed.length, 1);
});
