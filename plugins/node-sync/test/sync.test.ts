// Runs on every database in test:full.
// What is edited at the central is on the node, whatever happens in between; what is used on the node counts at the central.
import test from 'ava';
import { freePort, until } from '../../../test/harness/index.js';
import { client, downOf, emails, inbounds, poll, SyncWorld } from './world.js';

test('an inbound and its clients are made, changed and deleted on their node, and not here', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel, engine } = world.central;
  const port = await freePort();
  const added = await panel.call<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port, remark: 'far', nodeId: node.id },
  });
  t.is(added.status, 200, added.text);
  const { id } = added.body.obj;
  t.notRegex(added.body.msg, /does not have it/);
  const [there] = await inbounds(node.panel);
  t.like(there, { port, enable: true, nodeId: null });
  t.false(
    engine.inbounds.some((tag) => tag === there?.tag),
    'our core has it not',
  );

  const ann = await panel.addClient('ann', [id], { totalGB: 5_000 });
  t.like(await client(node.panel, 'ann'), { uuid: ann.uuid, totalGB: 5_000, enable: true });
  t.deepEqual((await client(node.panel, 'ann')).inboundIds, [there?.id]);
  t.is(engine.users.size, 0);

  await panel.get('/panel/api/clients/update/ann', { body: { email: 'anna', enable: false } });
  t.deepEqual(await emails(node.panel), ['anna']);
  t.false((await client(node.panel, 'anna')).enable);
  t.is((await client(node.panel, 'anna')).uuid, ann.uuid);

  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { remark: 'farther' } });
  t.is((await inbounds(node.panel)).length, 1);
  await panel.get('/panel/api/clients/del/anna', { body: {} });
  t.deepEqual(await emails(node.panel), []);
  await panel.get(`/panel/api/inbounds/del/${id}`, { body: {} });
  t.deepEqual(await inbounds(node.panel), []);
  t.deepEqual([...panel.faults, ...node.panel.faults], []);
});

test('a node that was away has all in one round, and nothing that was deleted comes back', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel } = world.central;
  const id = await panel.addInbound({ nodeId: node.id });
  for (const email of ['ann', 'bob', 'cyd']) await panel.addClient(email, [id]);
  t.deepEqual(await emails(node.panel), ['ann', 'bob', 'cyd']);
  await world.restart(node, async () => {
    await world.offline(node.id);
    const deleted = await panel.call('/panel/api/clients/del/ann', { body: {} });
    t.regex(deleted.body.msg, /the node fra does not have it yet: /);
    await panel.get('/panel/api/clients/update/bob', { body: { email: 'rob', comment: 'renamed' } });
    await panel.addClient('dan', [id]);
    t.is(await world.pending(node.id), 3);
    t.true((await world.status(node.id)).configDirty);
  });
  await world.online(node.id);
  await until(async () => (await world.pending(node.id)) === 0, 'all is sent');
  await until(async () => !(await world.status(node.id)).configDirty, 'nothing waits');
  t.deepEqual(await emails(node.panel), ['cyd', 'dan', 'rob']);
  t.deepEqual(await emails(panel), ['cyd', 'dan', 'rob']);
});

test('what was edited while this panel was killed is sent by the next one', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const id = await world.central.panel.addInbound({ nodeId: node.id });
  await world.restart(node, async () => {
    await world.offline(node.id);
    await world.central.panel.addClient('ann', [id]);
    await world.restart(world.central);
  });
  await world.online(node.id);
  await until(async () => (await emails(node.panel)).length === 1, 'the client is there');
  t.deepEqual(await emails(node.panel), ['ann']);
});

test('bytes on a node count here once, with the quota over all machines', async (t) => {
  const world = await SyncWorld.start(t);
  const [one, two] = [await world.node('one'), await world.node('two')];
  const { panel } = world.central;
  const ids = [await panel.addInbound({ nodeId: one.id }), await panel.addInbound({ nodeId: two.id })];
  await panel.addClient('ann', ids, { totalGB: 10_000 });
  const move = async ({ panel: at, engine }: typeof one, bytes: number) => {
    const [inbound] = await inbounds(at);
    engine.move(inbound?.id ?? 0, (await client(at, 'ann')).id, 0, bytes);
    await poll(at);
  };
  await move(one, 4_000);
  await poll(panel);
  await poll(panel);
  t.is(await downOf(panel, 'ann'), 4_000);
  await world.restart(world.central);
  await world.online(one.id);
  await world.online(two.id);
  await poll(world.central.panel);
  t.is(await downOf(world.central.panel, 'ann'), 4_000, 'not again by the next panel');
  await move(two, 7_000);
  await poll(world.central.panel);
  t.is(await downOf(world.central.panel, 'ann'), 11_000);
  t.false((await client(world.central.panel, 'ann')).enable);
  for (const node of [one, two])
    await until(async () => !(await client(node.panel, 'ann')).enable, 'the node has cut the client');
  // A new period begins everywhere.
  await world.central.panel.get('/panel/api/clients/resetTraffic/ann', { method: 'POST' });
  for (const node of [one, two]) {
    await until(async () => (await client(node.panel, 'ann')).enable, 'the client is back');
    t.is(await downOf(node.panel, 'ann'), 0);
  }
  await move(one, 500);
  await poll(world.central.panel);
  t.is(await downOf(world.central.panel, 'ann'), 500);
});

test('what the admin of the node changes or deletes by hand is found and put back', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel } = world.central;
  const id = await panel.addInbound({ nodeId: node.id });
  for (const email of ['ann', 'bob']) await panel.addClient(email, [id]);
  await node.panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
  await node.panel.get('/panel/api/clients/del/bob', { body: {} });
  t.regex(
    String((await panel.call(`/panel/api/x/node-sync/${node.id}/reconcile`, { method: 'POST' })).body.msg),
    /2 records/,
  );
  t.true((await client(node.panel, 'ann')).enable);
  t.deepEqual(await emails(node.panel), ['ann', 'bob']);
  t.regex(
    String((await panel.call(`/panel/api/x/node-sync/${node.id}/reconcile`, { method: 'POST' })).body.msg),
    /nothing differs/,
  );
});

test('an inbound moves from node to node with its clients, and home', async (t) => {
  const world = await SyncWorld.start(t);
  const [one, two] = [await world.node('one'), await world.node('two')];
  const { panel, engine } = world.central;
  const id = await panel.addInbound({ nodeId: one.id });
  await panel.addClient('ann', [id]);
  t.deepEqual(await emails(one.panel), ['ann']);
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { nodeId: two.id } });
  await until(async () => (await emails(two.panel)).length === 1, 'the client is on the other node');
  t.deepEqual([await emails(one.panel), await inbounds(one.panel)], [[], []]);
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { nodeId: null } });
  await until(async () => (await emails(two.panel)).length === 0, 'it has left the node');
  const [home] = await inbounds(panel);
  t.true(engine.inbounds.includes(home?.tag ?? ''), 'our core has it');
});

test('a node with inbounds is not deleted; what a node refuses is told with its words', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel } = world.central;
  const port = await freePort();
  await node.panel.addInbound({ port, tag: 'own', protocol: 'trojan' });
  const { body } = await panel.call<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port, remark: 'far', nodeId: node.id },
  });
  t.regex(body.msg, /the node fra does not have it yet: /);
  const refused = await panel.get<{ kind: string; id: number; reason: string }[]>(
    `/panel/api/x/node-sync/${node.id}/refused`,
  );
  t.like(refused[0], { kind: 'inbound', id: body.obj.id });
  const kept = await panel.call(`/panel/api/nodes/del/${node.id}`, { method: 'POST' });
  t.is(kept.status, 409);
  t.regex(kept.body.msg, /move or delete them first/);
  await panel.get(`/panel/api/inbounds/del/${body.obj.id}`, { body: {} });
  t.is((await panel.call(`/panel/api/nodes/del/${node.id}`, { method: 'POST' })).status, 200);
});

test('links lead to the address of the node, also of the next panel, and follow a change of it', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const id = await world.central.panel.addInbound({ nodeId: node.id, listen: '' });
  await world.central.panel.addClient('ann', [id]);
  const hosts = async () => {
    const links = await world.central.panel.get<string[]>('/panel/api/clients/links/ann');
    return links.map((link) => new URL(link).hostname);
  };
  t.deepEqual(await hosts(), ['127.0.0.1']);
  const { name, remark, scheme, port, basePath, enable } = await world.central.panel.get<
    Record<string, unknown>
  >(`/panel/api/nodes/get/${node.id}`);
  const changed = {
    name,
    remark,
    scheme,
    port,
    basePath,
    enable,
    allowPrivateAddress: true,
    address: 'localhost',
  };
  await world.central.panel.get(`/panel/api/nodes/update/${node.id}`, { body: changed });
  t.deepEqual(await hosts(), ['localhost']);
  await world.restart(world.central);
  t.deepEqual(await hosts(), ['localhost']);
  t.deepEqual(world.central.panel.faults, []);
});

test('a node knows what was used elsewhere, and cuts on its own while the central is away', async (t) => {
  const world = await SyncWorld.start(t);
  const [one, two] = [await world.node('one'), await world.node('two')];
  const { panel } = world.central;
  const ids = [await panel.addInbound({ nodeId: one.id }), await panel.addInbound({ nodeId: two.id })];
  await panel.addClient('ann', ids, { totalGB: 10_000 });
  const move = async ({ panel: at, engine }: typeof one, bytes: number) => {
    const [inbound] = await inbounds(at);
    engine.move(inbound?.id ?? 0, (await client(at, 'ann')).id, 0, bytes);
    await poll(at);
  };
  const report = (at = world.central.panel) =>
    at.call('/panel/api/system/jobs/node-sync/report', { method: 'POST' });
  await move(one, 3_000);
  await poll(panel);
  await world.restart(world.central);
  await world.online(one.id);
  await world.online(two.id);
  await move(two, 1_000);
  await poll(world.central.panel);
  await report();
  // Each shows what was used everywhere.
  await until(async () => (await downOf(two.panel, 'ann')) === 4_000, 'the other node has been told');
  t.is(await downOf(one.panel, 'ann'), 4_000);

  await world.central.panel.stop();
  await move(two, 6_500);
  t.false((await client(two.panel, 'ann')).enable, '3,000 elsewhere and 7,500 here');
  t.true((await client(one.panel, 'ann')).enable);
});
