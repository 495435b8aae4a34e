// A node whose record is deleted, and its panel that comes back under another one.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { addSite, adoption, inboundOf } from './adoption-world.js';
import { addNode, emails, inbounds, SyncWorld } from './world.js';

const tags = async (panel: Parameters<typeof inbounds>[0]): Promise<string[]> =>
  (await inbounds(panel)).map(({ tag }) => tag).sort();

test('a panel that was given back while it was off keeps what it has, though its next record has inbounds before it is enabled', async (t) => {
  const world = await SyncWorld.start(t);
  const site = await world.site();
  const own = await site.panel.addInbound({ tag: 'own' });
  await site.panel.addClient('ann', [own]);
  const { panel } = world.central;
  const id = await addSite(panel, 'fra', site, { inboundSyncMode: 'selected', inboundTags: ['own'] });
  await until(async () => (await adoption(panel, id)).adopted[0]?.isDone === true, 'it is adopted');
  await until(async () => (await world.pending(id)) === 0, 'the node knows');
  const enable = (nodeId: number, on: boolean) =>
    panel.get(`/panel/api/nodes/setEnable/${nodeId}`, { body: { enable: on } });
  await enable(id, false);
  await panel.get(`/panel/api/x/node-sync/${id}/release`, {
    body: { inboundIds: [(await inboundOf(panel, 'own')).id] },
  });
  await panel.get(`/panel/api/nodes/del/${id}`, { method: 'POST' });
  const next = await addNode(panel, 'again', site, { enable: false, inboundSyncMode: 'selected' });
  await panel.addInbound({ nodeId: next, tag: 'new' });
  await enable(next, true);
  await world.online(next);
  await world.reconcile(next);
  t.deepEqual(await tags(site.panel), ['new', 'own']);
  t.deepEqual(await emails(site.panel), ['ann']);
});

test('what was deleted while a node was off is not adopted again when the panel comes back under another record', async (t) => {
  const world = await SyncWorld.start(t);
  const site = await world.site();
  for (const [tag, email] of [
    ['own', 'ann'],
    ['kept', 'bob'],
  ] as const)
    await site.panel.addClient(email, [await site.panel.addInbound({ tag })]);
  const { panel } = world.central;
  const id = await addSite(panel, 'fra', site, { inboundSyncMode: 'selected', inboundTags: ['own'] });
  await until(async () => (await adoption(panel, id)).adopted[0]?.isDone === true, 'it is adopted');
  await until(async () => (await world.pending(id)) === 0, 'the node knows');
  await panel.get(`/panel/api/nodes/setEnable/${id}`, { body: { enable: false } });
  await panel.get('/panel/api/clients/del/ann', { body: {} });
  await panel.get(`/panel/api/inbounds/del/${(await inboundOf(panel, 'own')).id}`, { body: {} });
  await panel.get(`/panel/api/nodes/del/${id}`, { method: 'POST' });
  await world.restart(world.central);
  const next = await addSite(world.central.panel, 'again', site);
  await world.reconcile(next);
  await until(async () => (await adoption(world.central.panel, next)).adopted.length === 1, 'what is left');
  t.deepEqual(await emails(world.central.panel), ['bob']);
  t.deepEqual([await emails(site.panel), await tags(site.panel)], [['bob'], ['kept']]);
});

test('hosts of a machine are in links as soon as its guid is known', async (t) => {
  const world = await SyncWorld.start(t);
  const site = await world.site();
  const { panel } = world.central;
  const id = await addNode(panel, 'fra', site, { enable: false, inboundSyncMode: 'selected' });
  const inbound = await panel.addInbound({ nodeId: id, listen: '' });
  await panel.addClient('ann', [inbound]);
  const { panelGuid } = await site.panel.get<{ panelGuid: string }>('/panel/api/server/status');
  await panel.get('/panel/api/hosts/add', {
    body: { inboundIds: [inbound], remark: 'front', hosts: ['front.example.org'], nodeGuids: [panelGuid] },
  });
  const hosts = async () => {
    const links = await panel.get<string[]>('/panel/api/clients/links/ann');
    return links.map((link) => new URL(link).hostname);
  };
  t.deepEqual(await hosts(), ['127.0.0.1'], 'nobody knows yet whose machine it is');
  await panel.get(`/panel/api/nodes/setEnable/${id}`, { body: { enable: true } });
  await world.online(id);
  await until(async () => (await hosts()).includes('front.example.org'), 'the host of this machine');
});
