// Runs on every database in test:full.
// A central, its node, and the node's node: what runs below is adopted through the one between, and counted once.
import test from 'ava';
import { freePort, until } from '../../../test/harness/index.js';
import { adopt, adoption, addSite, compare, inboundOf, move } from './adoption-world.js';
import { client, downOf, emails, inbounds, poll, SyncWorld } from './world.js';

test.serial(
  'inbounds of a node’s node are edited, counted, limited and deleted through the node',
  async (t) => {
    const world = await SyncWorld.start(t);
    const [middle, low] = [await world.site(), await world.site()];
    const { panel } = world.central;
    const lowId = await addSite(middle.panel, 'low', low, { address: 'localhost' });
    const port = await freePort();
    const far = await middle.panel.addInbound({ tag: 'far', nodeId: lowId, port, listen: '0.0.0.0' });
    // The same port on the machine between is another one.
    await middle.panel.addInbound({ tag: 'near', port, listen: '0.0.0.0' });
    const ann = await middle.panel.addClient('ann', [far]);
    await middle.panel.addClient('bob', [far]);
    await move(low, 'far', 'ann', 1_000);
    await poll(middle.panel);

    const id = await addSite(panel, 'middle', middle);
    await until(async () => (await adoption(panel, id)).adopted.length === 2, 'both are adopted');
    await until(
      async () => (await adoption(panel, id)).adopted.every(({ isDone }) => isDone),
      'with their clients',
    );
    await until(async () => (await world.pending(id)) === 0, 'the node knows');
    t.deepEqual((await adoption(panel, id)).left, []);
    const { originNodeGuid: lowGuid } = await inboundOf(middle.panel, 'far');
    t.like(await inboundOf(panel, 'far'), { nodeId: id, originNodeGuid: lowGuid, down: 1_000 });
    t.not((await inboundOf(panel, 'near')).originNodeGuid, lowGuid);
    t.is(await downOf(panel, 'ann'), 1_000);
    // Links lead to the machine that runs it, and hosts are chosen by it.
    const hostsOf = async (email: string) =>
      (await panel.get<string[]>(`/panel/api/clients/links/${email}`)).map((link) => new URL(link).hostname);
    t.deepEqual(await hostsOf('ann'), ['localhost']);
    const { id: farHere } = await inboundOf(panel, 'far');
    for (const [remark, address, guid] of [
      ['low', 'low.example', lowGuid],
      ['other', 'other.example', 'another-guid'],
    ])
      await panel.get('/panel/api/hosts/add', {
        body: { remark, inboundIds: [farHere], hosts: [address], nodeGuids: [guid] },
      });
    t.deepEqual(await hostsOf('ann'), ['low.example']);

    // Down: edits of clients and of the inbound. Up: bytes, once.
    await panel.get('/panel/api/clients/update/ann', { body: { email: 'anna', comment: 'from the top' } });
    await panel.get(`/panel/api/inbounds/update/${farHere}`, { body: { remark: 'named above' } });
    await until(async () => (await emails(low.panel)).join() === 'anna,bob', 'the name is at the bottom');
    await until(async () => (await inboundOf(low.panel, 'far')).remark === 'named above', 'so is the remark');
    t.is((await client(low.panel, 'anna')).uuid, ann.uuid);
    t.is(await downOf(panel, 'anna'), 1_000, 'renamed, it keeps its counters');
    const upwards = async () => {
      await poll(middle.panel);
      await poll(panel);
    };
    await move(low, 'far', 'anna', 500);
    await upwards();
    await upwards();
    t.deepEqual(
      await Promise.all([low, middle, world.central].map((site) => downOf(site.panel, 'anna'))),
      [1_500, 1_500, 1_500],
    );
    t.is((await inboundOf(panel, 'far')).down, 1_500);

    // The quota is the central's, and cuts at the bottom.
    await panel.get('/panel/api/clients/update/anna', { body: { totalGB: 1_600 } });
    await until(
      async () => (await client(low.panel, 'anna')).totalGB === 1_600,
      'the limit is at the bottom',
    );
    await move(low, 'far', 'anna', 200);
    await upwards();
    for (const site of [world.central, middle, low])
      await until(async () => !(await client(site.panel, 'anna')).enable, 'it is cut on each panel');
    await panel.get('/panel/api/clients/resetTraffic/anna', { method: 'POST' });
    for (const site of [middle, low]) {
      await until(async () => (await client(site.panel, 'anna')).enable, 'a new period begins on each panel');
      t.is(await downOf(site.panel, 'anna'), 0);
    }
    await move(low, 'far', 'anna', 50);
    // A busy machine may cut a poll short; the next one reads it.
    await until(async () => {
      await upwards();
      return (await downOf(panel, 'anna')) > 0;
    }, 'it is counted at the top');
    await upwards();
    t.is(await downOf(panel, 'anna'), 50);
    // Each machine is shown with what runs there.
    await world.online(id);
    const nodes =
      await panel.get<{ guid: string; name: string; inboundCount: number; clientCount: number }[]>(
        '/panel/api/nodes/list',
      );
    t.deepEqual(
      nodes.map(({ name, inboundCount, clientCount }) => [name, inboundCount, clientCount]),
      [
        ['middle', 1, 0],
        ['low', 1, 2],
      ],
    );

    // Deleted while the one between is off: a tombstone through both.
    await world.restart(middle, async () => {
      await world.offline(id);
      await panel.get('/panel/api/clients/del/bob', { body: {} });
    });
    await world.online(id);
    await until(async () => (await emails(middle.panel)).join() === 'anna', 'it is deleted between');
    await until(async () => (await emails(low.panel)).join() === 'anna', 'and at the bottom');
    await adopt(panel, id);
    await compare(panel, id);
    t.deepEqual(await emails(panel), ['anna'], 'it does not come back');

    // What the admin at the bottom changes is put back from the top; the inbound goes from everywhere.
    await low.panel.get('/panel/api/clients/update/anna', { body: { enable: false } });
    await compare(middle.panel, lowId);
    t.true((await client(low.panel, 'anna')).enable);
    await panel.get(`/panel/api/inbounds/del/${farHere}`, { body: {} });
    await until(async () => (await inbounds(low.panel)).length === 0, 'it is deleted at the bottom');
    t.deepEqual([...panel.faults, ...middle.panel.faults, ...low.panel.faults], []);
  },
);

test.serial('panels that manage each other are told, and neither takes back what it gave', async (t) => {
  const world = await SyncWorld.start(t);
  const [other, third] = [await world.site(), await world.site()];
  const { panel } = world.central;
  await panel.addInbound({ tag: 'ours' });
  await other.panel.addInbound({ tag: 'theirs' });
  const id = await addSite(panel, 'other', other);
  await until(async () => (await adoption(panel, id)).adopted.length === 1, 'it is adopted');
  const back = await addSite(other.panel, 'back', world.central);
  await adopt(other.panel, back);
  t.regex((await adoption(other.panel, back)).problem, /a loop; nothing is adopted/);
  t.deepEqual((await adoption(other.panel, back)).adopted, []);
  t.deepEqual(
    (await inbounds(other.panel)).map(({ tag }) => tag),
    ['theirs'],
  );
  await other.panel.addInbound({ tag: 'later' });
  await adopt(panel, id);
  t.regex((await adoption(panel, id)).problem, /a loop/);
  t.deepEqual((await inbounds(panel)).map(({ tag }) => tag).sort(), ['ours', 'theirs']);
  const states = await panel.get<{ nodeId: number; problem: string }[]>('/panel/api/x/node-sync');
  t.regex(states.find(({ nodeId }) => nodeId === id)?.problem ?? '', /a loop/);
  // Over three panels nobody sees the other directly; what runs here is not adopted back.
  await other.panel.get(`/panel/api/nodes/del/${back}`, { method: 'POST' });
  await addSite(third.panel, 'central', world.central);
  await until(async () => (await inbounds(third.panel)).length > 0, 'the third one has adopted');
  await until(async () => (await inbounds(third.panel)).length === 2, 'with what is below');
  const round = await addSite(other.panel, 'third', third);
  await adopt(other.panel, round);
  t.deepEqual((await inbounds(other.panel)).map(({ tag }) => tag).sort(), ['later', 'theirs']);
});
