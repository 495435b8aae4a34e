// Changes that an older node has made although its reply was lost, and a panel that stops in between: what is deleted later
// is found there all the same.
import test from 'ava';
import { freePort, until } from '../../../test/harness/index.js';
import { OlderWorld, poll } from './world.js';

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
    await world.reconcile();
    await world.sent();
    t.is(node.inbounds.length, 1);
    await panel.addClient('ann', [id]);
    await world.sent();
    t.deepEqual(node.emails, ['ann']);

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
    t.deepEqual(node.emails, ['ann', 'own'], 'and it is not deleted with ours');
  },
);
