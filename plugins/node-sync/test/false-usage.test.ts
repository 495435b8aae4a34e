// What a node may say about usage, and what its central makes of it.
import { rm, cp, rename } from 'node:fs/promises';
import test from 'ava';
import { client, downOf, inbounds, poll, SyncWorld } from './world.js';
import { FalseNode, toldEpoch } from './false-node.js';

test('epochs that are over count once, however often they are told: a data folder on another disk', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel } = world.central;
  const id = await panel.addInbound({ nodeId: node.id });
  for (const email of ['ann', 'bob']) await panel.addClient(email, [id]);
  const move = async (email: string, bytes: number) => {
    const [inbound] = await inbounds(node.panel);
    node.engine.move(inbound?.id ?? 0, (await client(node.panel, email)).id, 0, bytes);
    await poll(node.panel);
  };
  await move('ann', 1_000);
  await move('bob', 2_000);
  await poll(panel);
  await world.restart(node, async () => {
    // All files are others: a copy.
    await cp(node.dataDirectory, `${node.dataDirectory}.copy`, { recursive: true });
    await rm(node.dataDirectory, { recursive: true });
    await rename(`${node.dataDirectory}.copy`, node.dataDirectory);
    await world.offline(node.id);
  });
  await world.online(node.id);
  await poll(node.panel);
  await poll(panel);
  await move('ann', 10);
  for (let i = 0; i < 4; i++) await poll(panel);
  await move('ann', 10);
  await move('bob', 5);
  for (let i = 0; i < 4; i++) await poll(panel);
  await panel.call('/panel/api/system/jobs/node-sync/acknowledge', { method: 'POST' });
  for (let i = 0; i < 2; i++) await poll(panel);
  t.deepEqual(
    [await downOf(panel, 'ann'), await downOf(panel, 'bob')],
    [1_010, 2_005],
    'the first poll there is not told',
  );
});

test('totals that fall are not counted again', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const far = await FalseNode.start(t);
  const nodeId = await far.join(panel, 'far');
  const inboundId = await panel.addInbound({ nodeId });
  const { id: clientId } = await panel.addClient('ann', [inboundId]);
  const say = async (down: number, seq: number, epoch = 'a') => {
    far.epochs = [toldEpoch(epoch, seq, [{ clientId, inboundId, up: 0, down }])];
    await poll(panel);
    return downOf(panel, 'ann');
  };
  t.is(await say(5_000, 3), 5_000);
  t.is(await say(4_000, 2), 5_000, 'an older state of the node');
  t.is(await say(4_100, 3), 5_100);
  t.is(await say(40, 1, 'b'), 5_140);
  t.is(await say(4_200, 4, 'a'), 5_140, 'an epoch that is over');
  t.is(await say(50, 2, 'b'), 5_150);
});

test('a node tells what its own clients used, and nothing of others', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const [far, other] = [await FalseNode.start(t), await FalseNode.start(t, 'another-guid')];
  const ids = [await far.join(panel, 'far'), await other.join(panel, 'other')];
  const [mine, theirs, here] = [
    await panel.addInbound({ nodeId: ids[0] }),
    await panel.addInbound({ nodeId: ids[1] }),
    await panel.addInbound(),
  ];
  const ann = await panel.addClient('ann', [mine]);
  const bob = await panel.addClient('bob', [theirs]);
  const cyd = await panel.addClient('cyd', [here]);
  const user = (clientId: number, inboundId: number, down = 700) => ({ clientId, inboundId, up: 0, down });
  other.epochs = [toldEpoch('x', 1, [user(bob.id, theirs)])];
  const lies = [
    user(bob.id, mine),
    user(cyd.id, mine),
    user(cyd.id, here),
    user(bob.id, theirs, 9_000),
    user(ann.id, here),
    user(ann.id, theirs),
    user(999, mine),
  ];
  const downs = () => Promise.all(['ann', 'bob', 'cyd'].map((email) => downOf(panel, email)));
  far.epochs = [toldEpoch('e', 1, [...lies, user(ann.id, mine)])];
  await poll(panel);
  t.deepEqual(await downs(), [700, 700, 0]);
  // A reply that cannot be is that of one node: others are counted.
  const wrong: object[] = [
    { clientId: 0 },
    { inboundId: 0 },
    { down: -1 },
    { down: 1.5 },
    { down: 2 ** 60 },
    { up: '5' },
    { clientId: null },
  ];
  for (const [i, lie] of wrong.entries()) {
    far.epochs = [toldEpoch('e', 2 + i, [{ ...user(ann.id, mine, 1_000_000), ...lie }])];
    other.epochs = [toldEpoch('x', 2 + i, [user(bob.id, theirs, 800 + i)])];
    await poll(panel);
    t.deepEqual(await downs(), [700, 800 + i, 0], JSON.stringify(lie));
  }
  far.epochs = [toldEpoch('e', 3, [user(ann.id, mine, 750)])];
  await poll(panel);
  t.deepEqual(await downs(), [750, 806, 0], 'none of it was taken as read');
  t.deepEqual(panel.faults, []);
});

test('a node that was sent nothing yet knows no central, which is no problem', async (t) => {
  const world = await SyncWorld.start(t);
  await world.node('fra');
  const { panel } = world.central;
  await poll(panel);
  const states = await panel.get<{ problem: string }[]>('/panel/api/x/node-sync');
  t.deepEqual(
    states.map(({ problem }) => problem),
    [''],
  );
});
