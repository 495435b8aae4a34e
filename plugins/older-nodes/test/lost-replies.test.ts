// Changes that an older node has made although its reply was lost, and a panel that stops in between: what is deleted later
// is found there all the same.
import test from 'ava';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeClock, freePort, until } from '../../../test/harness/index.js';
import { RemoteStates } from '../remote-state.js';
import { downOf, OlderWorld, poll } from './world.js';

test.serial(
  'a client that was added or renamed without a reply is deleted there, also by the next panel',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { node, id: nodeId } = world;
    const id = await world.panel.addInbound({ nodeId });
    await world.panel.addClient('bob', [id]);
    await world.sent();
    node.mood = 'mute';
    await world.panel.addClient('ann', [id]);
    await until(() => node.emails.includes('ann'), 'it was added');
    await world.panel.get('/panel/api/clients/update/bob', { body: { email: 'rob' } });
    await until(() => node.emails.includes('rob'), 'it was renamed');
    t.is((await world.sync()).pending > 0, true);
    await world.restart();
    for (const email of ['ann', 'rob'])
      await world.panel.get(`/panel/api/clients/del/${email}`, { body: {} });
    node.mood = 'well';
    await world.reconcile();
    await world.sent();
    t.deepEqual([node.emails, [...node.records]], [[], []]);

    await world.panel.addClient('cyd', [id]);
    await world.sent();
    node.mood = 'gone';
    await world.panel.get('/panel/api/clients/update/cyd', { body: { email: 'zyd' } });
    await until(async () => (await world.sync()).problem !== '', 'it did not get there');
    await world.panel.get('/panel/api/clients/del/zyd', { body: {} });
    node.mood = 'well';
    await world.reconcile();
    await world.sent();
    t.deepEqual(node.emails, [], 'the node never knew the later name');
    t.is(node.inbounds.length, 1);
    t.deepEqual(world.panel.faults, []);
  },
);

test.serial(
  'an inbound whose reply was lost is not added twice; one with clients of others is not taken',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { panel, node, id: nodeId } = world;
    const add = async (port: number) =>
      (
        await panel.call<{ id: number }>('/panel/api/inbounds/add', {
          body: { protocol: 'vless', listen: '127.0.0.1', port, remark: 'far', nodeId },
        })
      ).body.obj.id;
    node.mood = 'mute';
    const port = await freePort();
    const id = await add(port);
    await until(() => node.inbounds.length === 1, 'it was added');
    node.mood = 'well';
    // The next call looks first: without a comparison.
    await world.sent();
    t.is(node.inbounds.length, 1);
    t.is((await world.sync()).refused, 0);
    await panel.addClient('ann', [id]);
    await world.sent();
    t.deepEqual(node.emails, ['ann']);
    node.mood = 'mute';
    await panel.addClient('dan', [id]);
    await until(() => node.emails.includes('dan'), 'it was added');
    node.mood = 'well';
    node.calls.length = 0;
    await world.sent();
    t.false(
      node.changes().some(({ path }) => path.startsWith('clients/resetTraffic')),
      'its first period has begun already',
    );

    const other = await freePort();
    const [first] = node.inbounds;
    const stranger = { id: 'x', email: 'own', subId: 'own', enable: true, totalGB: 0, expiryTime: 0 };
    if (first)
      node.inbounds.push({
        ...structuredClone(first),
        ...{ id: 77, port: other, tag: `in-${other}-tcp`, settings: { clients: [stranger] } },
      });
    await world.reconcile();
    const taken = await add(other);
    await world.sent();
    const [refused] = await panel.get<{ id: number; reason: string }[]>(
      `/panel/api/x/node-sync/${nodeId}/refused`,
    );
    t.is(refused?.id, taken);
    t.regex(refused?.reason ?? '', /has 1 clients that this panel does not know, such as own/);
    await panel.get(`/panel/api/inbounds/del/${taken}`, { body: {} });
    await world.sent();
    await poll(panel);
    t.deepEqual(node.emails, ['ann', 'dan', 'own'], 'and it is not deleted with ours');
  },
);

test.serial('bytes of a poll that is not stored are counted by the next panel', async (t) => {
  const world = await OlderWorld.start(t);
  const { node, id: nodeId } = world;
  await world.panel.addClient('ann', [await world.panel.addInbound({ nodeId })]);
  await world.sent();
  await poll(world.panel);
  const { dataDirectory } = world.panel;
  await editDatabase(dataDirectory, [
    `CREATE TRIGGER full_disk BEFORE INSERT ON older_nodes_totals BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
  ]);
  node.move('ann', 0, 1_000);
  await poll(world.panel);
  t.is(await downOf(world.panel, 'ann'), 0);
  await world.restart(() => editDatabase(dataDirectory, ['DROP TRIGGER full_disk']));
  await until(async () => {
    // The first one finds out what kind of panel it is.
    await poll(world.panel);
    return (await downOf(world.panel, 'ann')) === 1_000;
  }, 'they are counted');
});

test('a list that was asked for before a change was sent is out of date', async (t) => {
  let sends = true;
  let lists = 0;
  const states: RemoteStates = new RemoteStates({
    nodes: {
      call: async () => {
        lists += 1;
        if (sends) states.sends(1);
        return { obj: [] };
      },
    },
    clock: new FakeClock(),
  } as never);
  t.false((await states.read(1, 1_000)).isCurrent);
  sends = false;
  for (let i = 0; i < 2; i++) await states.current(1);
  t.is(lists, 2, 'read again before the next change, and kept then');
});
