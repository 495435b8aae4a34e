// Runs on every database in test:full.
// Adoption when something is in its way: a stop in the middle, another central, a node that is removed and comes back, a node that lies.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { type TestPanel, until } from '../../../test/harness/index.js';
import { server, STATUS } from '../../nodes/test/world.js';
import { adopt, adoption, addSite, compare, inboundOf, move } from './adoption-world.js';
import { addNode, client, downOf, emails, inbounds, poll, SyncWorld } from './world.js';

const done = async (world: SyncWorld, id: number, count: number): Promise<void> => {
  const { central } = world;
  await until(
    async () => (await adoption(central.panel, id)).adopted.length === count,
    `${count} are adopted`,
  );
  await until(
    async () => (await adoption(central.panel, id)).adopted.every(({ isDone }) => isDone),
    'they are done',
  );
  await until(async () => (await world.pending(id)) === 0, 'the node knows');
};
const countOf = async (panel: TestPanel): Promise<number> => (await emails(panel)).length;

test.serial('stopped in the middle, it goes on where it was; bytes of meanwhile count once', async (t) => {
  const world = await SyncWorld.start(t);
  const site = await world.site();
  const inbound = await site.panel.addInbound({ tag: 'big' });
  const all = Array.from({ length: 1_700 }, (_, i) => `c${String(i).padStart(4, '0')}`);
  await site.panel.get('/panel/api/clients/bulkCreate', {
    body: all.map((email) => ({ client: { email }, inboundIds: [inbound] })),
  });
  const [first, last] = ['c0000', 'c1699'];
  for (const email of [first, last]) await move(site, 'big', email, 100);
  const small = await site.panel.addInbound({ tag: 'small' });
  await site.panel.get(`/panel/api/clients/${last}/attach`, { body: { inboundIds: [small] } });
  const inboundTags = ['small'];
  const id = await addSite(world.central.panel, 'fra', site, { inboundSyncMode: 'selected', inboundTags });
  await done(world, id, 1);
  await world.central.panel.get(`/panel/api/nodes/update/${id}`, { body: { inboundSyncMode: 'all' } });
  await until(async () => (await countOf(world.central.panel)) > 1, 'it has begun');
  await world.restart(world.central, async () => {
    await move(site, 'big', first, 10);
    await move(site, 'small', last, 10);
  });
  const begun = await countOf(world.central.panel);
  t.true(begun >= 500, `${begun} before it was stopped`);
  await move(site, 'big', first, 1);
  await move(site, 'small', last, 1);
  await world.online(id);
  // A client that is not read yet keeps both inbounds, though the node is sent it; after the adoption, if that goes on already.
  await world.central.panel.get(`/panel/api/clients/update/${last}`, { body: { comment: 'meanwhile' } });
  const isSent = async () => (await client(site.panel, last)).comment === 'meanwhile';
  await until(isSent, 'the node has the edit');
  await compare(world.central.panel, id);
  await done(world, id, 2);
  t.deepEqual((await client(site.panel, last)).inboundIds, [inbound, small]);
  t.is((await client(world.central.panel, last)).inboundIds.length, 2);
  t.deepEqual(await emails(world.central.panel), all);
  await poll(site.panel);
  await poll(world.central.panel);
  await poll(world.central.panel);
  for (const email of [first, last]) t.is(await downOf(world.central.panel, email), 111, email);
  t.deepEqual((await adoption(world.central.panel, id)).left, []);
  t.is(await countOf(site.panel), 1_700);
  t.deepEqual([...world.central.panel.faults, ...site.panel.faults], []);
});

test.serial(
  'a client that leaves a node and comes back is there; what another panel manages is left to it',
  async (t) => {
    const world = await SyncWorld.start(t);
    const node = await world.node('fra');
    const { panel } = world.central;
    const [a, b] = [await panel.addInbound({ nodeId: node.id, tag: 'a' }), await panel.addInbound()];
    await panel.addClient('ann', [a, b]);
    for (let i = 0; i < 2; i++) {
      await panel.get('/panel/api/clients/ann/detach', { body: { inboundIds: [a] } });
      await until(async () => (await countOf(node.panel)) === 0, 'the client has left');
      await panel.get('/panel/api/clients/ann/attach', { body: { inboundIds: [a] } });
      await until(async () => (await countOf(node.panel)) === 1, 'the client is back');
    }
    await panel.get(`/panel/api/inbounds/update/${a}`, { body: { nodeId: null } });
    await until(async () => (await inbounds(node.panel)).length === 0, 'the inbound is here');
    await panel.get(`/panel/api/inbounds/update/${a}`, { body: { nodeId: node.id } });
    await until(async () => (await inbounds(node.panel)).length === 1, 'and there again');
    await until(async () => (await countOf(node.panel)) === 1, 'with its client');

    const second = await world.site();
    const id = await addSite(second.panel, 'paris', node);
    const own = await node.panel.addInbound({ tag: 'own' });
    await node.panel.addClient('bob', [own, (await inboundOf(node.panel, 'a')).id]);
    await adopt(second.panel, id);
    const { left, adopted } = await adoption(second.panel, id);
    t.deepEqual(
      adopted.map(({ remoteTag }) => remoteTag),
      ['own'],
    );
    t.is(left.length, 1);
    t.regex(left[0]?.reason ?? '', /another panel manages it: [\w-]{36}/);
    t.deepEqual(await emails(second.panel), ['bob']);
  },
);

test.serial(
  'a node that is removed goes on, and comes back with what it has; nothing is deleted or counted again',
  async (t) => {
    const world = await SyncWorld.start(t);
    const site = await world.site();
    const { panel } = world.central;
    const one = await site.panel.addInbound({ tag: 'one' });
    await site.panel.addClient('ann', [one]);
    await move(site, 'one', 'ann', 300);
    const id = await addSite(panel, 'fra', site);
    await done(world, id, 1);
    // Counted, and not stored by machine yet.
    await move(site, 'one', 'ann', 20);
    await poll(panel);
    t.regex(
      (await panel.call(`/panel/api/x/node-sync/${id}/release`, { body: { inboundIds: [1] } })).body.msg,
      /mode all/,
    );
    // Given back while the node is away: it does not learn of it before its record goes.
    await world.restart(site, async () => {
      await world.offline(id);
      await panel.get(`/panel/api/nodes/update/${id}`, { body: { inboundSyncMode: 'selected' } });
      const [{ id: here } = { id: 0 }] = await inbounds(panel);
      await panel.get(`/panel/api/x/node-sync/${id}/release`, { body: { inboundIds: [here] } });
      t.deepEqual(await inbounds(panel), []);
      await panel.get(`/panel/api/nodes/del/${id}`, { method: 'POST' });
    });
    await move(site, 'one', 'ann', 40);
    const again = await addSite(panel, 'fra again', site);
    await done(world, again, 1);
    t.deepEqual(await emails(site.panel), ['ann']);
    t.deepEqual(
      (await inbounds(site.panel)).map(({ tag }) => tag),
      ['one'],
    );
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 360);
    await panel.get('/panel/api/clients/update/ann', { body: { comment: 'managed again' } });
    await until(async () => (await client(site.panel, 'ann')).comment === 'managed again', 'it is managed');
    await compare(panel, again);
    t.deepEqual([...panel.faults, ...site.panel.faults], []);
    // For the next panel too, what was used under the first record was used at this node, and not elsewhere.
    await world.restart(world.central);
    await world.online(again);
    await move(site, 'one', 'ann', 1);
    await poll(world.central.panel);
    await world.central.panel.call('/panel/api/system/jobs/node-sync/report', { method: 'POST' });
    t.is(await downOf(site.panel, 'ann'), 361);
  },
);

test.serial('what a lying node offers is refused with reasons, and harms nothing', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const own = await panel.addInbound({ tag: 'own' });
  await panel.addClient('ann', [own]);
  const inbound = (id: number, value: object, more: object = {}) => ({
    ...{ id, tag: `t${id}`, originGuid: STATUS.panelGuid, originAddress: '', fallbacks: [], up: 0, down: 0 },
    ...{ managedBy: '', value: { protocol: 'vless', port: 20_000 + id, ...value } },
    ...more,
  });
  const offered = [
    inbound(1, { protocol: 'nothing' }),
    inbound(2, { port: -5 }),
    inbound(3, { settings: 'no JSON' }),
    inbound(4, { nodeId: null, id: own, tag: 'own' }),
    inbound(5, { remark: 'x'.repeat(9_000) }),
    inbound(6, {}, { tag: 'own' }),
    // On a machine that nobody can reach, with a name that fakes a line, and once more under another name.
    inbound(7, {}, { originGuid: 'somewhere' }),
    inbound(8, { port: -5 }, { tag: 'a\nb\u202e' }),
    inbound(4, { port: 20_099 }, { tag: 'twice' }),
  ];
  const person = (id: number, value: object, more: object = {}) => ({
    ...{ id, recordId: 0, inboundIds: [4], credentials: [], up: 5, down: 5, lastOnline: 0, lastSubFetch: 0 },
    ...{ resetCount: 0, managedBy: '', value: { email: `p${id}`, ...value } },
    ...more,
  });
  const clients = [
    person(1, { email: 'ann' }),
    person(2, { uuid: 'no uuid' }),
    person(3, { email: 5 }),
    person(4, {}, { inboundIds: [4, 77, own], lastOnline: 2 ** 53 - 1, lastSubFetch: 2 ** 53 - 1 }),
    person(5, {}, { recordId: 1 }),
    person(8, { reset: 1, expiryTime: Date.now() - 1_000 }, { resetCount: 2 ** 53 - 1 }),
    person(6, {}, { credentials: [{ inboundId: 4, allowedIPs: { a: 1 } }, { inboundId: 'x' }] }),
  ];
  let offers: unknown = {
    loop: false,
    digest: 'd',
    offered,
    own: [{ id: own, localId: 9, originAddress: '' }],
  };
  const liar = await server(t, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://liar');
    const answers: Record<string, unknown> = {
      '/panel/api/server/status': STATUS,
      '/panel/api/server/descendants': [],
      '/panel/api/x/node/offers': offers,
      // The next page is this one, for ever.
      '/panel/api/x/node/offers/clients': { clients, next: 3 },
      '/panel/api/x/node/apply': { results: [] },
    };
    response.setHeader('content-type', 'application/json');
    const isState = pathname.startsWith('/panel/api/x/node/state');
    if (isState) response.statusCode = 404;
    const code = isState ? { success: false, code: 'NODE_AGENT_UNKNOWN_CENTRAL' } : { success: true };
    response.end(JSON.stringify({ ...code, msg: '', obj: answers[pathname] ?? {} }));
  });
  const honest = await world.site();
  const id = await addNode(panel, 'liar', { panel: honest.panel, port: liar.port });
  await until(
    async () => (await adoption(panel, id)).adopted.some(({ isDone }) => isDone),
    'it has been asked',
  );
  const { left, adopted } = await adoption(panel, id);
  t.deepEqual(adopted.map(({ tag }) => tag).sort(), [`n${id}-own`, 't4']);
  t.deepEqual(
    left
      .filter(({ kind }) => kind === 'inbound')
      .map(({ name }) => name)
      .sort(),
    ['a b ', 't1', 't2', 't3', 't5', 't7'],
  );
  t.deepEqual((await client(panel, 'ann')).inboundIds, [own], 'somebody else with this name');
  t.like(await inboundOf(panel, 'own'), { id: own, nodeId: null });
  t.deepEqual((await client(panel, 'p4')).inboundIds.includes(own), false);
  const { lastOnline, lastSubFetch } = await panel.get<{ lastOnline: number; lastSubFetch: number }>(
    '/panel/api/clients/traffic/p4',
  );
  t.true(lastOnline <= Date.now() && lastSubFetch <= Date.now(), 'nobody was seen in the future');
  await poll(panel);
  const { resetCount } = await panel.get<{ resetCount: number }>('/panel/api/clients/traffic/p8');
  t.is(resetCount, 2 ** 53 - 1, 'renewed, and a number still');
  for (const bad of [
    null,
    'x',
    { loop: 1 },
    { loop: false, digest: 'd', offered: [inbound(8, {}, { up: -1 })], own: [] },
  ]) {
    offers = bad;
    const { status } = await panel.call(`/panel/api/x/node-sync/${id}/adopt`, { method: 'POST' });
    t.is(status, 422);
    await sleep(1);
  }
  t.deepEqual(panel.faults, []);
});
