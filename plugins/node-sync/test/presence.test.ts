// Who is connected to nodes, and from where: known here under their guids, and limits of addresses hold over all machines.
import test from 'ava';
import { Listener } from '../../realtime/test/listener.js';
import { FakeClock, type TestPanel, until } from '../../../test/harness/index.js';
import { client, downOf, inbounds, poll, type Site, SyncWorld } from './world.js';

type ByGuid = Record<string, string[]>;
const post = <T>(panel: TestPanel, path: string) => panel.get<T>(`/panel/api/${path}`, { method: 'POST' });
const onlineAt = async (panel: TestPanel, guid: string): Promise<string[]> =>
  (await post<ByGuid>(panel, 'clients/onlinesByGuid'))[guid] ?? [];
const addressesAt = async (panel: TestPanel, guid: string): Promise<Record<string, string[]>> => {
  const all = await post<Record<string, Record<string, { ip: string }[]>>>(panel, 'clients/clientIpsByGuid');
  return Object.fromEntries(
    Object.entries(all[guid] ?? {}).map(([email, seen]) => [email, seen.map(({ ip }) => ip)]),
  );
};
const guidOf = async (panel: TestPanel): Promise<string> =>
  (await panel.get<{ panelGuid: string }>('/panel/api/server/status')).panelGuid;
const listed = (panel: TestPanel) =>
  panel.get<{ id: number; guid: string; name: string; onlineCount: number; transitive: boolean }[]>(
    '/panel/api/nodes/list',
  );

/** The client moves bytes and connects at a machine, from this address, and the machine polls. */
async function use({ panel, engine }: Site, email: string, address: string): Promise<void> {
  const { id: clientId, inboundIds } = await client(panel, email);
  const local = (await inbounds(panel)).filter(
    ({ id, nodeId }) => nodeId === null && inboundIds.includes(id),
  );
  const inboundId = local[0]?.id ?? 0;
  engine.move(inboundId, clientId, 1, 10);
  engine.connect({ inboundId, clientId }, address);
  await poll(panel);
}

/** Polls until it is so: a node is told with the poll after the one that brought the news. */
const polled = (panel: TestPanel, isSo: () => Promise<boolean>, what: string): Promise<void> =>
  until(async () => {
    await poll(panel);
    return isSo();
  }, what);

test('who is online on a node, and from where, is shown under its guid, until the node goes away', async (t) => {
  const world = await SyncWorld.start(t, new FakeClock());
  const node = await world.node('fra');
  const guid = await guidOf(node.panel);
  const id = await world.central.panel.addInbound({ nodeId: node.id, tag: 'far' });
  await world.central.panel.addInbound({ nodeId: node.id, tag: 'idle' });
  for (const email of ['ann', 'bob']) await world.central.panel.addClient(email, [id]);
  const own = await node.panel.addInbound();
  await node.panel.addClient('stranger', [own]);
  await use(node, 'ann', '198.51.100.1');
  await use(node, 'stranger', '198.51.100.99');
  await poll(world.central.panel);
  await until(async () => (await onlineAt(world.central.panel, guid)).length === 1, 'ann is online');
  // This panel starts again: no bytes move any more, and who is online is known from the node.
  await world.restart(world.central);
  await world.online(node.id);
  const { panel } = world.central;
  await poll(panel);
  t.deepEqual(await post(panel, 'clients/onlines'), ['ann']);
  t.deepEqual(await post(panel, 'clients/onlinesByGuid'), { [await guidOf(panel)]: [], [guid]: ['ann'] });
  t.deepEqual((await post<ByGuid>(panel, 'clients/activeInbounds'))[guid], ['far']);
  const { ann = 0 } = await post<Record<string, number>>(panel, 'clients/lastOnline');
  t.true(ann > 0);
  t.deepEqual(await addressesAt(panel, guid), { ann: ['198.51.100.1'] });
  t.like((await post<{ ip: string; node: string }[]>(panel, 'clients/ips/ann'))[0], {
    ip: '198.51.100.1',
    node: guid,
  });
  t.like((await panel.get<{ clientEmail: string }[]>('/panel/api/server/clientIps'))[0], {
    clientEmail: 'ann',
  });
  t.is((await listed(panel))[0]?.onlineCount, 1);
  const live = Listener.plain(panel);
  const { payload: snapshot } = await live.first<{
    traffic: { onlineByGuid: ByGuid };
    nodes: { onlineCount: number }[];
  }>('snapshot');
  t.deepEqual([snapshot.traffic.onlineByGuid[guid], snapshot.nodes[0]?.onlineCount], [['ann'], 1]);
  await poll(panel);
  const traffic = await live.first<{ onlineByGuid: ByGuid; activeInbounds: ByGuid }>('traffic');
  t.deepEqual([traffic.payload.onlineByGuid[guid], traffic.payload.activeInbounds[guid]], [['ann'], ['far']]);
  await world.online(node.id);
  t.is((await live.first<{ onlineCount: number }[]>('nodes')).payload[0]?.onlineCount, 1);
  await node.panel.stop();
  await world.offline(node.id);
  await until(async () => (await onlineAt(panel, guid)).length === 0, 'nobody is there');
  t.deepEqual(await post(panel, 'clients/onlines'), []);
  t.deepEqual(await addressesAt(panel, guid), { ann: ['198.51.100.1'] }, 'for half an hour');
  t.deepEqual(panel.faults, []);
});

test('an address at one node takes the place of a client with limitIp 1 at another node, and here', async (t) => {
  const world = await SyncWorld.start(t, new FakeClock());
  const [one, two] = [await world.node('one'), await world.node('two')];
  const { panel, engine } = world.central;
  const ids = [
    await panel.addInbound({ nodeId: one.id }),
    await panel.addInbound({ nodeId: two.id }),
    await panel.addInbound(),
  ];
  await panel.addClient('ann', ids, { limitIp: 1 });
  await panel.addClient('bob', ids);
  await use(one, 'ann', '198.51.100.1');
  await use(one, 'bob', '198.51.100.7');
  const there = async () => addressesAt(two.panel, await guidOf(one.panel));
  await polled(panel, async () => (await there())['ann'] !== undefined, 'the other node has been told');
  t.deepEqual(await there(), { ann: ['198.51.100.1'] }, 'only of clients with a limit');
  await use(two, 'ann', '198.51.100.2');
  await until(() => two.engine.exceeded.length > 0, 'the other node finds it over the limit');
  t.deepEqual(two.engine.exceeded, ['ann 198.51.100.2']);
  await use(world.central, 'ann', '198.51.100.3');
  await until(() => engine.exceeded.length > 0, 'and this panel');
  t.deepEqual(engine.exceeded, ['ann 198.51.100.3']);
  // The one that came first has been told of both, and keeps its place.
  await polled(
    panel,
    async () => (await addressesAt(one.panel, await guidOf(two.panel)))['ann'] !== undefined,
    'the first node has been told',
  );
  await use(one, 'ann', '198.51.100.1');
  t.deepEqual(one.engine.exceeded, []);
  t.deepEqual([...panel.faults, ...one.panel.faults, ...two.panel.faults], []);
});

test('a panel below a node is shown with its guid, its count and its addresses; limits reach it', async (t) => {
  const world = await SyncWorld.start(t, new FakeClock());
  const middle = await world.node('middle');
  const { panel } = world.central;
  const [id, here] = [await panel.addInbound({ nodeId: middle.id }), await panel.addInbound()];
  await panel.addClient('ann', [id, here], { limitIp: 1 });
  // The admin of the node has a node too, and lets the client use it.
  const below = await world.over(middle).node('below');
  const far = await middle.panel.addInbound({ nodeId: below.id });
  await middle.panel.get('/panel/api/clients/ann/attach', { body: { inboundIds: [far] } });
  await world.online(middle.id);
  const guid = await guidOf(below.panel);
  await until(async () => (await listed(panel)).some((node) => node.guid === guid), 'the tree is known');
  await use(below, 'ann', '198.51.100.5');
  await poll(middle.panel);
  await poll(panel);
  await until(async () => (await onlineAt(panel, guid)).length === 1, 'ann is online below the node');
  t.deepEqual(await addressesAt(panel, guid), { ann: ['198.51.100.5'] });
  t.like(
    (await listed(panel)).find((node) => node.guid === guid),
    { transitive: true, onlineCount: 1 },
  );
  await use(world.central, 'ann', '198.51.100.6');
  await until(() => world.central.engine.exceeded.length > 0, 'it is over the limit here');
  await polled(
    panel,
    async () => {
      await poll(middle.panel);
      return (await addressesAt(below.panel, await guidOf(panel)))['ann'] !== undefined;
    },
    'the address here is known two levels below',
  );
  // What was told downwards does not come back as theirs.
  for (const at of [below.panel, middle.panel, panel]) await poll(at);
  t.deepEqual(await addressesAt(panel, await guidOf(panel)), { ann: ['198.51.100.6'] });
  t.deepEqual(await addressesAt(panel, await guidOf(middle.panel)), {});
});

test('what was used above a node counts at the node below it, and a pushed total is shown beside', async (t) => {
  const world = await SyncWorld.start(t, new FakeClock());
  const middle = await world.node('middle');
  const { panel } = world.central;
  const [id, here] = [await panel.addInbound({ nodeId: middle.id }), await panel.addInbound()];
  await panel.addClient('ann', [id, here], { totalGB: 100 });
  const below = await world.over(middle).node('below');
  const far = await middle.panel.addInbound({ nodeId: below.id });
  await middle.panel.get('/panel/api/clients/ann/attach', { body: { inboundIds: [far] } });
  const report = (at: TestPanel) => at.call('/panel/api/system/jobs/node-sync/report', { method: 'POST' });
  // 88 here, 11 below, each known everywhere.
  for (let i = 0; i < 8; i++) await use(world.central, 'ann', '198.51.100.1');
  await use(below, 'ann', '198.51.100.1');
  await poll(middle.panel);
  await poll(panel);
  await report(panel);
  await report(middle.panel);
  for (const at of [middle.panel, below.panel])
    await until(async () => (await downOf(at, 'ann')) >= 80, 'what was used above is known');
  t.is(await downOf(middle.panel, 'ann'), 90);
  t.is(await downOf(below.panel, 'ann'), 90);
  t.is(await downOf(panel, 'ann'), 80, 'bytes through inbounds of the node’s own admin are none of ours');
  // A panel of another kind counted more: the greater one is shown, at this level, and no limit acts on it.
  await middle.panel.get('/panel/api/inbounds/pushClientTraffics', {
    body: { masterGuid: 'older-master', traffics: [{ email: 'ann', up: 20, down: 5_000 }] },
  });
  t.is(await downOf(middle.panel, 'ann'), 5_000);
  t.true((await client(middle.panel, 'ann')).enable);
  // Two more below, and it is cut there: 99 + 2 × 11 exceed the quota over all machines.
  await use(below, 'ann', '198.51.100.1');
  await use(below, 'ann', '198.51.100.1');
  t.false((await client(below.panel, 'ann')).enable);
});

test('a device that fetched at a node has its place everywhere, until an admin removes it', async (t) => {
  const world = await SyncWorld.start(t, new FakeClock());
  const [one, two] = [await world.node('one'), await world.node('two')];
  const { panel } = world.central;
  const ids = [await panel.addInbound({ nodeId: one.id }), await panel.addInbound({ nodeId: two.id })];
  await panel.addClient('ann', ids, { limitHwid: 1, subId: 'sub-ann' });
  const fetched = async ({ panel: at }: Pick<Site, 'panel'>, device: string): Promise<number> => {
    const { subPath } = (await post<{ subPath: string }>(at, 'setting/all')) ?? {};
    const reply = await fetch(`${at.subscriptionUrl}${subPath}sub-ann`, { headers: { 'x-hwid': device } });
    await reply.text();
    return reply.status;
  };
  const devices = ({ panel: at }: Pick<Site, 'panel'>) => post<{ id: number }[]>(at, 'clients/hwids/ann');
  // Devices are told from the first question on.
  await poll(panel);
  t.is(await fetched(one, 'phone-1'), 200);
  await polled(panel, async () => (await devices(two)).length === 1, 'the other node knows the device');
  t.is((await devices(world.central)).length, 1);
  t.is(await fetched(two, 'phone-2'), 404, 'its place is taken');
  t.is(await fetched(two, 'phone-1'), 200);
  await panel.get('/panel/api/clients/hwids/ann', { method: 'DELETE' });
  for (const node of [one, two])
    await polled(panel, async () => (await devices(node)).length === 0, 'it is removed everywhere');
  t.is(await fetched(two, 'phone-2'), 200);
  await polled(panel, async () => (await devices(one)).length === 1, 'the first node knows the next one');
  t.is(await fetched(one, 'phone-1'), 404);
  t.deepEqual([...panel.faults, ...one.panel.faults, ...two.panel.faults], []);
});
