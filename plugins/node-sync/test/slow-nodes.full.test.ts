// Nodes that do not end their replies, and what they keep waiting: themselves.
import test from 'ava';
import { FakeClock, until } from '../../../test/harness/index.js';
import { FalseNode, toldEpoch } from './false-node.js';
import { poll, SyncWorld } from './world.js';

const never = () => new Promise(() => undefined);
const asked = (node: FalseNode, part: string) => node.asked.filter((one) => one.includes(part)).length;

test('nodes that never end a reply keep neither comparisons, reports nor heartbeats of others waiting', async (t) => {
  const clock = new FakeClock();
  const world = await SyncWorld.start(t, clock);
  const { panel } = world.central;
  const job = (name: string) => panel.call(`/panel/api/system/jobs/node-sync/${name}`, { method: 'POST' });
  const nodes: { node: FalseNode; id: number; inboundId: number }[] = [];
  for (let i = 0; i < 9; i++) {
    const node = await FalseNode.start(t, `11111111-2222-4333-8444-55555555555${i}`);
    const id = await node.join(panel, `n${i}`);
    await world.online(id);
    nodes.push({ node, id, inboundId: await panel.addInbound({ nodeId: id }) });
  }
  const { id: clientId } = await panel.addClient(
    'ann',
    nodes.map(({ inboundId }) => inboundId),
  );
  const slow = nodes.slice(0, 8);
  const [fair] = nodes.slice(8);
  const [first] = slow;
  if (!fair || !first) throw new Error('there are nine');
  for (const { id } of nodes) await world.reconcile(id);

  // One place of eight is free.
  for (const { node } of slow.slice(0, 7)) node.replies.set('/elsewhere', never);
  first.node.epochs = [toldEpoch('a', 1, [{ clientId, inboundId: first.inboundId, up: 0, down: 5_000 }])];
  await poll(panel);
  const reports = job('report');
  await until(async () => asked(fair.node, '/elsewhere') > 0, 'it is told what was used elsewhere');

  for (const { node } of slow) node.replies.set('/x/node/state', never);
  const before = asked(fair.node, '/x/node/state');
  clock.tick(11 * 60_000);
  const comparisons = job('compare');
  await until(async () => asked(fair.node, '/x/node/state') > before, 'it is compared in its turn');
  await comparisons;

  first.node.replies.set('/getWebCertFiles', never);
  const calls = Array.from({ length: 70 }, () => panel.call(`/panel/api/nodes/webCert/${first.id}`));
  await until(async () => asked(first.node, '/getWebCertFiles') > 10, 'calls wait for it');
  const { status } = await panel.get<{ status: string }>(`/panel/api/nodes/probe/${fair.id}`, {
    method: 'POST',
  });
  t.is(status, 'online');
  const since = Date.now();
  await panel.stop();
  t.true(Date.now() - since < 9_000, `the panel stops, in ${Date.now() - since} ms`);
  await Promise.allSettled([reports, ...calls]);
});
