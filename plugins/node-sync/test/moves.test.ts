// Runs on every database in test:full.
// Inbounds and clients that leave a node and come back, and what was used before they left.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { until } from '../../../test/harness/index.js';
import { onlyOn } from '../../../test/harness/left-out.js';
import { addSite, adoption, inboundOf } from './adoption-world.js';
import { FalseNode, toldEpoch } from './false-node.js';
import { client, downOf, emails, inbounds, poll, SyncWorld } from './world.js';

test('an inbound that comes back to a node is there at once with its clients, and all bytes count once', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel } = world.central;
  const id = await panel.addInbound({ nodeId: node.id, remark: 'a' });
  await panel.addClient('ann', [id]);
  for (const remark of ['b', 'c']) await panel.get(`/panel/api/inbounds/update/${id}`, { body: { remark } });
  for (const comment of ['b', 'c']) await panel.get('/panel/api/clients/update/ann', { body: { comment } });
  const move = async (bytes: number) => {
    const [inbound] = await inbounds(node.panel);
    node.engine.move(inbound?.id ?? 0, (await client(node.panel, 'ann')).id, 0, bytes);
    await poll(node.panel);
  };
  await move(1_000);
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { nodeId: null } });
  t.deepEqual(await inbounds(node.panel), []);
  await poll(panel);
  await until(async () => {
    await poll(panel);
    return (await downOf(panel, 'ann')) === 1_000;
  }, 'the last bytes before it left');
  await panel.get('/panel/api/clients/update/ann', { body: { comment: 'home' } });
  const { body } = await panel.call<unknown>(`/panel/api/inbounds/update/${id}`, {
    body: { nodeId: node.id },
  });
  t.notRegex(body.msg, /does not have it/);
  t.deepEqual([await emails(node.panel), (await inbounds(node.panel)).length], [['ann'], 1]);
  await move(500);
  await poll(panel);
  t.is(await downOf(panel, 'ann'), 1_500);
  // A client that is detached and attached again.
  await panel.get('/panel/api/clients/ann/detach', { body: { inboundIds: [id] } });
  t.deepEqual(await emails(node.panel), []);
  await panel.get('/panel/api/clients/ann/attach', { body: { inboundIds: [id] } });
  t.deepEqual(await emails(node.panel), ['ann']);
  t.regex(
    String((await panel.call(`/panel/api/x/node-sync/${node.id}/reconcile`, { method: 'POST' })).body.msg),
    /nothing differs/,
  );
  t.deepEqual([...panel.faults, ...node.panel.faults], []);
});

onlyOn(onSqlite, 'SQLite')(
  'a central that is restored from an older backup overtakes its nodes at once',
  async (t) => {
    const world = await SyncWorld.start(t);
    const node = await world.node('fra');
    const id = await world.central.panel.addInbound({ nodeId: node.id });
    for (const email of ['ann', 'bob']) await world.central.panel.addClient(email, [id]);
    const { cp, rm } = await import('node:fs/promises');
    const { dataDirectory } = world.central;
    await world.restart(world.central, () => cp(dataDirectory, `${dataDirectory}.old`, { recursive: true }));
    await world.online(node.id);
    const { panel } = world.central;
    for (const comment of ['b', 'c', 'd'])
      await panel.get('/panel/api/clients/update/ann', { body: { comment } });
    for (const comment of ['b', 'c']) await panel.get('/panel/api/clients/update/bob', { body: { comment } });
    await panel.get('/panel/api/clients/del/bob', { body: {} });
    await panel.addClient('cyd', [id]);
    t.deepEqual(await emails(node.panel), ['ann', 'cyd']);
    await world.restart(world.central, async () => {
      await rm(dataDirectory, { recursive: true });
      await cp(`${dataDirectory}.old`, dataDirectory, { recursive: true });
    });
    await world.online(node.id);
    await world.central.panel.get('/panel/api/clients/update/ann', { body: { comment: 'restored' } });
    t.is((await node.panel.get<{ comment: string }>('/panel/api/clients/get/ann')).comment, 'restored');
    await world.reconcile(node.id);
    await until(async () => (await emails(node.panel)).join() === 'ann,bob', 'one comparison is enough');
  },
);

test('bytes that a node tells after an inbound or a client has left it count', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const far = await FalseNode.start(t);
  const nodeId = await far.join(panel, 'far');
  const [left, stays] = [await panel.addInbound({ nodeId }), await panel.addInbound({ nodeId })];
  const ann = await panel.addClient('ann', [left]);
  const bob = await panel.addClient('bob', [stays]);
  await panel.get(`/panel/api/inbounds/update/${left}`, { body: { nodeId: null } });
  await panel.get('/panel/api/clients/bob/detach', { body: { inboundIds: [stays] } });
  far.epochs = [
    toldEpoch('e', 1, [
      { clientId: ann.id, inboundId: left, up: 0, down: 300 },
      { clientId: bob.id, inboundId: stays, up: 0, down: 400 },
    ]),
  ];
  await poll(panel);
  t.deepEqual([await downOf(panel, 'ann'), await downOf(panel, 'bob')], [300, 400]);
});

test('an adopted inbound that moves to another node is a new one there, whatever has its number there', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const [one, two] = [await world.site(), await world.site()];
  const [own, other] = [
    await one.panel.addInbound({ tag: 'own' }),
    await two.panel.addInbound({ tag: 'other', remark: 'of the admin there' }),
  ];
  t.is(own, other);
  const ids = [
    await addSite(panel, 'one', one),
    await addSite(panel, 'two', two, { inboundSyncMode: 'selected' }),
  ] as const;
  await until(async () => (await adoption(panel, ids[0])).adopted[0]?.isDone === true, 'it is adopted');
  const { id } = await inboundOf(panel, 'own');
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { nodeId: ids[1] } });
  await until(async () => (await inbounds(two.panel)).length === 2, 'it is at the other node');
  t.like(await inboundOf(two.panel, 'other'), { id: other, remark: 'of the admin there' });
  await until(async () => (await inbounds(one.panel)).length === 0, 'it has left the first one');
  t.deepEqual((await adoption(panel, ids[0])).adopted, []);
});
