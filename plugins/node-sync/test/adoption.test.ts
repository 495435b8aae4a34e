// Runs on every database in test:full.
// Inbounds that a node has before it is added become inbounds of the central, with their clients and what they used.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { adopt, adoption, addSite, compare, inboundOf, move } from './adoption-world.js';
import { client, downOf, emails, inbounds, poll, SyncWorld } from './world.js';

test.serial(
  'a node that is added brings its inbounds, clients and counters, and this panel is the truth from then on',
  async (t) => {
    const world = await SyncWorld.start(t);
    const site = await world.site();
    const { panel } = world.central;
    const expiryTime = Date.now() + 86_400_000;
    const one = await site.panel.addInbound({ tag: 'one', remark: 'first' });
    const two = await site.panel.addInbound({ tag: 'two', protocol: 'trojan' });
    const ann = await site.panel.addClient('ann', [one, two], { totalGB: 10_000, expiryTime, limitIp: 3 });
    await site.panel.addClient('bob', [two], { enable: false });
    await site.panel.addClient('cyd', [one], { totalGB: 500 });
    await move(site, 'one', 'ann', 4_000);
    await move(site, 'one', 'cyd', 600);
    t.false((await client(site.panel, 'cyd')).enable);

    // The narrow token is enough.
    const { token: apiToken } = await site.panel.get<{ token: string }>(
      '/panel/api/setting/apiTokens/create',
      { body: { name: 'narrow', kind: 'node' } },
    );
    const id = await addSite(panel, 'fra', site, { apiToken });
    await until(async () => (await emails(panel)).length === 3, 'the clients are here');
    await until(async () => (await adoption(panel, id)).adopted.every(({ isDone }) => isDone), 'all is done');
    t.like(await inboundOf(panel, 'one'), { nodeId: id, remark: 'first', down: 4_600 });
    t.like(await client(panel, 'ann'), {
      uuid: ann.uuid,
      totalGB: 10_000,
      enable: true,
      expiryTime,
      limitIp: 3,
    });
    t.is((await client(panel, 'ann')).inboundIds.length, 2);
    t.is(await downOf(panel, 'ann'), 4_000);
    t.false((await client(panel, 'bob')).enable);
    t.false((await client(panel, 'cyd')).enable, 'at its limit here too');
    t.deepEqual((await adoption(panel, id)).left, []);

    // Nothing is counted twice, and what comes later once.
    await poll(panel);
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 4_000);
    await move(site, 'two', 'ann', 5_000);
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 9_000);
    t.like(await inboundOf(panel, 'two'), { down: 5_000 });
    await adopt(panel, id);
    await compare(panel, id);
    t.is((await inbounds(panel)).length, 2);
    t.is((await inbounds(site.panel)).length, 2);
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 9_000);

    // A raised limit enables the client that was at it.
    await panel.get('/panel/api/clients/update/cyd', { body: { totalGB: 5_000 } });
    t.true((await client(panel, 'cyd')).enable);
    t.true((await client(site.panel, 'cyd')).enable);
    // Edits there are put back, edits here arrive.
    await panel.get('/panel/api/clients/update/bob', { body: { enable: true, email: 'rob' } });
    t.like(await client(site.panel, 'rob'), { enable: true });
    await site.panel.get('/panel/api/clients/update/rob', { body: { enable: false } });
    await site.panel.get(`/panel/api/inbounds/update/${one}`, { body: { remark: 'by hand' } });
    await compare(panel, id);
    t.true((await client(site.panel, 'rob')).enable);
    t.like(await inboundOf(site.panel, 'one'), { remark: 'first' });
    // The quota counts what was used before.
    await move(site, 'one', 'ann', 1_500);
    await poll(panel);
    t.false((await client(panel, 'ann')).enable);
    t.deepEqual([...panel.faults, ...site.panel.faults], []);
  },
);

test.serial(
  'only what is selected is taken; the rest is never touched, and what is deselected goes on without this panel',
  async (t) => {
    const world = await SyncWorld.start(t);
    const site = await world.site();
    const { panel } = world.central;
    const [one, two] = [
      await site.panel.addInbound({ tag: 'one' }),
      await site.panel.addInbound({ tag: 'two' }),
    ];
    await site.panel.addClient('ann', [one, two]);
    await site.panel.addClient('bob', [two]);
    await move(site, 'one', 'ann', 100);
    const node = { inboundSyncMode: 'selected', inboundTags: [] };
    const id = await addSite(panel, 'fra', site, node);
    await panel.get(`/panel/api/nodes/update/${id}`, { body: { ...node, inboundTags: ['one'] } });
    await until(async () => (await adoption(panel, id)).adopted[0]?.isDone === true, 'it is adopted');
    t.deepEqual(await emails(panel), ['ann']);
    t.like((await adoption(panel, id)).left, [{ kind: 'inbound', name: 'two', reason: 'not selected' }]);
    // Edits of the client here leave it attached to the inbound that is not ours.
    await panel.get('/panel/api/clients/update/ann', { body: { comment: 'hello' } });
    t.deepEqual((await client(site.panel, 'ann')).inboundIds, [one, two]);
    await site.panel.get(`/panel/api/inbounds/update/${two}`, { body: { remark: 'mine' } });
    await compare(panel, id);
    t.like(await inboundOf(site.panel, 'two'), { remark: 'mine' });

    // Selected later: a client that is known is attached, and stays attached there. Bytes that no poll has brought yet count once.
    await move(site, 'one', 'ann', 30);
    await panel.get(`/panel/api/nodes/update/${id}`, { body: { inboundTags: ['one', 'two'] } });
    await until(async () => (await adoption(panel, id)).adopted.length === 2, 'the other one too');
    await until(async () => (await adoption(panel, id)).adopted.every(({ isDone }) => isDone), 'it is done');
    t.is((await client(panel, 'ann')).inboundIds.length, 2);
    await compare(panel, id);
    t.deepEqual((await client(site.panel, 'ann')).inboundIds, [one, two]);
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 130);
    // What is made here for the node is selected.
    await panel.addInbound({ tag: 'made', nodeId: id });
    await until(async () => {
      const { inboundTags } = await panel.get<{ inboundTags: string[] }>(`/panel/api/nodes/get/${id}`);
      return inboundTags.join() === 'one,two,made';
    }, 'its tag is in the list');

    // Deselected: gone here, and as it was there.
    await panel.get(`/panel/api/nodes/update/${id}`, { body: { inboundTags: ['one', 'made'] } });
    await until(async () => (await inbounds(panel)).length === 2, 'it is given back');
    await until(async () => (await world.pending(id)) === 0, 'the node knows');
    t.deepEqual(await emails(site.panel), ['ann', 'bob']);
    t.deepEqual((await client(site.panel, 'ann')).inboundIds, [one, two]);
    await site.panel.get('/panel/api/clients/update/bob', { body: { comment: 'mine again' } });
    await compare(panel, id);
    t.like(await client(site.panel, 'bob'), { comment: 'mine again' });
    // Taken once more, it brings its clients, and their bytes are not counted again.
    await move(site, 'two', 'bob', 70);
    await panel.get(`/panel/api/nodes/update/${id}`, { body: { inboundTags: ['one', 'two', 'made'] } });
    await until(async () => (await adoption(panel, id)).adopted.length === 2, 'it is taken again');
    await until(
      async () => (await adoption(panel, id)).adopted.every(({ isDone }) => isDone),
      'it is done again',
    );
    await poll(panel);
    t.deepEqual([await downOf(panel, 'ann'), await downOf(panel, 'bob')], [130, 70]);
    t.deepEqual([...panel.faults, ...site.panel.faults], []);
  },
);

test.serial(
  'one client with the same subId or UUID is merged; another with the same name is refused and named',
  async (t) => {
    const world = await SyncWorld.start(t);
    const [one, two] = [await world.site(), await world.site()];
    const { panel } = world.central;
    const here = await panel.addInbound({ tag: 'shared' });
    const ann = await panel.addClient('ann', [here], { totalGB: 9_000 });
    await panel.addClient('bob', [here]);
    // At its limit here before anything is adopted.
    const dan = await panel.addClient('dan', [here], { totalGB: 500 });
    await move(world.central, 'shared', 'ann', 1_000);
    await move(world.central, 'shared', 'dan', 600);
    t.false((await client(panel, 'dan')).enable);
    for (const site of [one, two]) {
      const inbound = await site.panel.addInbound({ tag: 'shared' });
      const { subId } = await client(panel, 'ann');
      await site.panel.addClient('ann', [inbound], { subId, uuid: ann.uuid, totalGB: 1 });
      await site.panel.addClient('bob', [inbound]);
      await site.panel.addClient('dan', [inbound], { subId: dan.subId, uuid: dan.uuid });
      await move(site, 'shared', 'ann', 2_000);
    }
    const ids = [await addSite(panel, 'one', one), await addSite(panel, 'two', two)] as const;
    for (const id of ids) {
      await until(async () => (await adoption(panel, id)).adopted[0]?.isDone === true, 'it is adopted');
      await until(async () => (await world.pending(id)) === 0, 'the node knows');
    }
    const [first, second] = [await adoption(panel, ids[0]), await adoption(panel, ids[1])];
    t.deepEqual(
      [first, second].map(({ adopted }) => adopted[0]?.tag),
      [`n${ids[0]}-shared`, `n${ids[1]}-shared`],
    );
    for (const { left } of [first, second]) {
      t.like(left, [{ kind: 'client', name: 'bob' }]);
      t.regex(left[0]?.reason ?? '', /another subId and UUID/);
    }
    // All bytes of the one person count, and the limits of this panel are in force everywhere.
    t.is(await downOf(panel, 'ann'), 5_000);
    t.like(await client(panel, 'ann'), { totalGB: 9_000 });
    for (const site of [one, two]) {
      t.like((await inbounds(site.panel))[0], { tag: 'shared' });
      t.like(await client(site.panel, 'ann'), { totalGB: 9_000, enable: true });
      t.deepEqual(await emails(site.panel), ['ann', 'bob', 'dan']);
      t.false((await client(site.panel, 'dan')).enable);
    }
    await panel.get('/panel/api/clients/update/dan', { body: { totalGB: 5_000 } });
    t.true((await client(panel, 'dan')).enable, 'the limit had disabled it, and no admin');
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 5_000);
    await panel.call('/panel/api/system/jobs/node-sync/report', { method: 'POST' });
    await until(
      async () => (await downOf(one.panel, 'ann')) === 5_000,
      'a node knows what was used elsewhere',
    );
    await move(two, 'shared', 'ann', 5_000);
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 10_000);
    await until(async () => !(await client(one.panel, 'ann')).enable, 'the quota counts everything');
    // Renamed there, the other one can come.
    await one.panel.get('/panel/api/clients/update/bob', { body: { email: 'bert' } });
    await adopt(panel, ids[0]);
    t.deepEqual(await emails(panel), ['ann', 'bert', 'bob', 'dan']);
    t.deepEqual((await adoption(panel, ids[0])).left, []);
    t.deepEqual([...panel.faults, ...one.panel.faults, ...two.panel.faults], []);
  },
);
