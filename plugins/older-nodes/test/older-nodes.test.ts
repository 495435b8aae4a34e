// Runs on every database in test:full.
// What is edited here is on a node whose panel is of the older kind, by the calls of such a panel, and its counters count here.
import test from 'ava';
import { freePort, until } from '../../../test/harness/index.js';
import { exchange } from './older-node.js';
import { downOf, OlderWorld, poll } from './world.js';

test.serial(
  'an inbound and its clients live on an older node by its own calls, one small call for each edit',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { panel, node, id: nodeId } = world;
    const port = await freePort();
    const added = await panel.call<{ id: number; tag: string }>('/panel/api/inbounds/add', {
      body: { protocol: 'vless', listen: '127.0.0.1', port, remark: 'far', nodeId },
    });
    t.is(added.status, 200, added.text);
    await world.sent();
    const { id, tag } = added.body.obj;
    t.is(tag, `n${nodeId}-in-${port}-tcp`);
    t.like(node.inbounds[0], { tag: `in-${port}-tcp`, port, enable: true, remark: 'far' });
    const { request } = await exchange('inbounds-add');
    const [add] = node.changes().filter(({ path }) => path === 'inbounds/add');
    t.is(`panel/api/${add?.path}`, request.path);
    t.true(add?.headers['content-type']?.startsWith(request.contentType ?? '?'));
    t.deepEqual([...new URLSearchParams(add?.body).keys()].sort(), [...(request.fields ?? [])]);
    for (const name of request.headers ?? []) t.truthy(add?.headers[name], name);
    t.not(add?.headers['accept-encoding'], 'zstd');

    node.calls.length = 0;
    const ann = await panel.addClient('ann', [id], { totalGB: 5_000 });
    await world.sent();
    t.like(node.client('ann'), { id: ann.uuid, totalGB: 5_000, enable: true });
    t.deepEqual(
      node.changes().map(({ path }) => path),
      ['clients/add'],
    );
    const clientAdd = await exchange('clients-add');
    const sent = JSON.parse(node.changes()[0]?.body ?? '{}') as { client: object; inboundIds: number[] };
    t.like(sent.client, clientAdd.request.body?.['client'] as Record<string, unknown>);
    t.deepEqual(sent.inboundIds, [1]);

    node.calls.length = 0;
    await panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
    await world.sent();
    const clientUpdate = await exchange('clients-update');
    t.deepEqual(
      node.changes().map(({ path }) => `panel/api/${path}`),
      [clientUpdate.request.path],
    );
    t.like(JSON.parse(node.changes()[0]?.body ?? '{}'), clientUpdate.request.body as Record<string, unknown>);
    t.false(node.client('ann')?.enable);

    node.calls.length = 0;
    await panel.get('/panel/api/clients/update/ann', { body: { email: 'anna', enable: true } });
    await world.sent();
    t.deepEqual(node.emails, ['anna']);
    await panel.get('/panel/api/clients/del/anna', { body: {} });
    await world.sent();
    t.deepEqual(
      node.changes().map(({ path }) => path),
      ['clients/update/ann?inboundIds=1', 'clients/del/anna'],
    );
    t.deepEqual([node.emails, [...node.records]], [[], []]);
    await panel.addClient('off', [id], { enable: false });
    await world.sent();
    t.false(node.client('off')?.enable, 'such a panel enables whom it adds');
    await panel.get(`/panel/api/inbounds/update/${id}`, { body: { remark: 'farther' } });
    await world.sent();
    t.like(node.inbounds[0], { remark: 'farther' });
    t.deepEqual(node.emails, ['off']);
    await panel.get(`/panel/api/inbounds/del/${id}`, { body: {} });
    await world.sent();
    t.deepEqual([node.inbounds, [...node.records]], [[], []]);
    t.deepEqual(panel.faults, []);
  },
);

test.serial('bytes of an older node count once; counters that fall are a new start', async (t) => {
  const world = await OlderWorld.start(t);
  const { node, id: nodeId } = world;
  const id = await world.panel.addInbound({ nodeId });
  await world.panel.addClient('ann', [id], { totalGB: 20_000 });
  await world.sent();
  node.move('ann', 0, 1_000_000);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 0, 'what it had at the first look was counted by nobody knows whom');
  node.move('ann', 1, 4_000);
  await poll(world.panel);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 4_000);
  await world.restart();
  await poll(world.panel);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 4_000, 'not again by the next panel');
  node.move('ann', 0, 500);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 4_500);

  // It was restored from a backup, or reset: less than before, yet far more than nothing.
  Object.assign(node.stats.get('ann') ?? {}, { up: 0, down: 900_000 });
  await poll(world.panel);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 4_500);
  node.move('ann', 0, 700);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 5_200);

  node.move('ann', 0, 20_000);
  await poll(world.panel);
  await until(() => node.client('ann')?.enable === false, 'the quota cuts it there');
  // A renewal there enables it, and begins its counters at zero.
  Object.assign(node.stats.get('ann') ?? {}, { up: 0, down: 0, enable: true });
  Object.assign(node.client('ann') ?? {}, { enable: true, expiryTime: Date.now() + 86_400_000 });
  await poll(world.panel);
  await until(() => node.client('ann')?.enable === false, 'it is cut again');
  await world.sent();
  t.is(node.client('ann')?.expiryTime, 0);
  t.is(await downOf(world.panel, 'ann'), 25_200);

  node.calls.length = 0;
  await world.panel.get('/panel/api/clients/resetTraffic/ann', { method: 'POST' });
  await until(() => node.client('ann')?.enable === true, 'a new period');
  t.true(node.changes().some(({ path }) => path === 'clients/resetTraffic/ann'));
  await poll(world.panel);
  node.move('ann', 0, 40);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 40);
});

test.serial(
  'what was deleted while an older node was away stays deleted, also after a restart here and a backup there',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { node, id: nodeId } = world;
    const id = await world.panel.addInbound({ nodeId });
    for (const email of ['ann', 'bob', 'cyd']) await world.panel.addClient(email, [id]);
    await world.sent();
    await poll(world.panel);
    const restore = node.backup();
    await world.offline();
    const deleted = await world.panel.call('/panel/api/clients/del/ann', { body: {} });
    t.regex(deleted.body.msg, /the node old does not have it yet: /);
    await world.panel.get('/panel/api/clients/update/bob', { body: { email: 'rob' } });
    await world.panel.addClient('dan', [id]);
    await world.restart();
    await world.online();
    await world.sent();
    t.deepEqual(node.emails, ['cyd', 'dan', 'rob']);

    await poll(world.panel);
    restore();
    t.deepEqual(node.emails, ['ann', 'bob', 'cyd']);
    t.regex(await world.reconcile(), /records were sent again/);
    t.deepEqual(node.emails, ['cyd', 'dan', 'rob']);
    await poll(world.panel);
    t.regex(await world.reconcile(), /nothing differs/);
    t.deepEqual(world.panel.faults, []);
  },
);

test.serial(
  'many clients are one call for their inbound, and an edit by hand there is put back',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { panel, node, id: nodeId } = world;
    const id = await panel.addInbound({ nodeId });
    await world.sent();
    node.calls.length = 0;
    const clients = Array.from({ length: 1_200 }, (_, i) => ({
      client: { email: `c${i}` },
      inboundIds: [id],
    }));
    await panel.get('/panel/api/clients/bulkCreate', { body: clients });
    await world.sent();
    t.is(node.emails.length, 1_200);
    t.is(node.changes().length, 1);
    await poll(panel);
    t.regex(await world.reconcile(), /nothing differs/);

    node.calls.length = 0;
    Object.assign(node.client('c7') ?? {}, { totalGB: 999 });
    const [inbound] = node.inbounds;
    inbound?.settings.clients.splice(3, 1);
    t.regex(await world.reconcile(), /2 records/);
    t.is(node.client('c7')?.totalGB, 0);
    t.is(node.emails.length, 1_200);
    t.deepEqual(
      node
        .changes()
        .map(({ path }) => path.split('/')[1])
        .sort(),
      ['add', 'update'],
    );
    // The node has cut one at its limit, and no poll has brought that yet.
    await panel.get('/panel/api/clients/update/c8', { body: { totalGB: 1_000 } });
    await world.sent();
    Object.assign(node.stats.get('c8') ?? {}, { enable: false, down: 1_000 });
    t.regex(await world.reconcile(), /nothing differs/);
  },
);

test.serial(
  'what an older node refuses is shown in its words, and its own inbounds and clients are left alone',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { panel, node, id: nodeId } = world;
    const form = (port: number, clients: object[]) => ({
      method: 'POST',
      headers: { authorization: `Bearer ${node.token}` },
      body: new URLSearchParams({
        tag: `own-${port}`,
        port: String(port),
        listen: '',
        protocol: 'trojan',
        remark: 'own',
        enable: 'true',
        settings: JSON.stringify({ clients }),
        streamSettings: '{}',
        sniffing: '{}',
      }),
    });
    const port = await freePort();
    const own = { id: 'x', email: 'own', subId: 'own', enable: true, totalGB: 0, expiryTime: 0 };
    await fetch(`http://127.0.0.1:${node.port}/panel/api/inbounds/add`, form(port, [own]));
    const taken = await panel.call<{ id: number }>('/panel/api/inbounds/add', {
      body: { protocol: 'vless', listen: '127.0.0.1', port, remark: 'far', nodeId },
    });
    await world.sent();
    t.regex(taken.body.msg, /the node old does not have it yet: /);
    const [refused] = await panel.get<{ kind: string; reason: string }[]>(
      `/panel/api/x/node-sync/${nodeId}/refused`,
    );
    t.is(refused?.kind, 'inbound');
    t.regex(refused?.reason ?? '', /is used by inbound 'own'/);
    const id = await panel.addInbound({ nodeId });
    const clash = await panel.call('/panel/api/clients/add', {
      body: { client: { email: 'own' }, inboundIds: [id] },
    });
    t.regex(clash.body.msg, /the node old does not have it yet: /);
    await world.sent();
    const all = await panel.get<{ kind: string; reason: string }[]>(
      `/panel/api/x/node-sync/${nodeId}/refused`,
    );
    t.regex(all.find(({ kind }) => kind === 'client')?.reason ?? '', /email already in use: own/);
    await panel.get('/panel/api/clients/del/own', { body: {} });
    await world.reconcile();
    t.is(node.client('own')?.subId, 'own');
    t.true(node.inbounds.some(({ tag }) => tag === `own-${port}`));
  },
);
