// An older node that answers with anything but the truth changes nothing here, and is named.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { OlderNode } from './older-node.js';
import { downOf, OlderWorld, poll } from './world.js';

const MOODS = [
  ['html', /not the API of a panel/],
  ['huge', /8 MiB|larger|bytes/],
  ['hollow', /holds more than \d+ separators/],
  ['strange', /invalid obj\[0\]/],
  ['negative', /up/],
  ['slow', /longer than 4 s/],
] as const;

test.serial(
  'replies that are no list of inbounds, too long or too slow count nothing and end no edit',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { panel, node, id: nodeId } = world;
    const id = await panel.addInbound({ nodeId });
    await panel.addClient('ann', [id]);
    await world.sent();
    await poll(panel);
    node.move('ann', 0, 100);
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 100);
    for (const [mood, problem] of MOODS) {
      node.mood = mood;
      node.move('ann', 1, 10);
      await poll(panel);
      t.is(await downOf(panel, 'ann'), 100, mood);
      t.regex((await world.sync()).problem, problem, mood);
    }
    node.mood = 'well';
    await poll(panel);
    t.is(await downOf(panel, 'ann'), 100 + 10 * MOODS.length, 'nothing was lost');
    t.is((await world.sync()).problem, '');
  },
);

test.serial(
  'a node that counts what nobody can have moved, counts other people, or does not obey',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { panel, node, id: nodeId } = world;
    const id = await panel.addInbound({ nodeId });
    const home = await panel.addInbound({});
    await panel.addClient('ann', [id], { totalGB: 0 });
    await panel.addClient('eve', [home]);
    await world.sent();
    await poll(panel);
    await poll(panel);
    node.inbounds[0]?.settings.clients.push({
      ...{ id: 'x', email: 'eve', subId: 'x', enable: true, totalGB: 0, expiryTime: 0 },
    });
    node.stats.set('eve', { inboundId: 1, enable: true, up: 0, down: 5, total: 0, expiryTime: 0 });
    await poll(panel);
    node.move('eve', 0, 1_000);
    node.move('ann', 0, 2_560 * 2 ** 30);
    await poll(panel);
    t.is(await downOf(panel, 'eve'), 0, 'who is not there is not counted there');
    t.true((await downOf(panel, 'ann')) < 100 * 2 ** 30, 'no client moves terabytes between two polls');

    await panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
    await world.sent();
    node.refuses = { path: /clients\/update/, msg: 'database is locked' };
    node.calls.length = 0;
    for (const stats of node.stats.values()) stats.enable = true;
    Object.assign(node.client('ann') ?? {}, { enable: true });
    for (let i = 0; i < 5; i++) await poll(panel);
    await world.sent();
    t.is(
      node.changes().filter(({ path }) => path.startsWith('clients/update')).length,
      1,
      'not with each poll',
    );
    t.is((await world.sync()).refused, 1);
  },
);

test.serial('counters that rise to the greatest number again and again stop no other node', async (t) => {
  const world = await OlderWorld.start(t);
  const { panel, node, id: nodeId } = world;
  const other = await OlderNode.start(t);
  other.guid = 'another-older-panel';
  const place = {
    scheme: 'http',
    address: '127.0.0.1',
    port: other.port,
    basePath: '/',
    apiToken: other.token,
  };
  await panel.get('/panel/api/nodes/add', { body: { name: 'other', ...place, allowPrivateAddress: true } });
  const nodes = await panel.get<{ id: number; name: string }[]>('/panel/api/nodes/list');
  const otherId = nodes.find(({ name }) => name === 'other')?.id ?? 0;
  await panel.get(`/panel/api/x/node-sync/${otherId}/reconcile`, { method: 'POST' });
  await panel.addClient('ann', [await panel.addInbound({ nodeId })]);
  await panel.addClient('bob', [await panel.addInbound({ nodeId: otherId })]);
  await until(
    () => Promise.resolve(node.emails.includes('ann') && other.emails.includes('bob')),
    'both are there',
  );
  await world.sent();
  for (let i = 0; i < 2; i++) await poll(panel);
  const most = 2 ** 52;
  for (let i = 0; i < 4; i++) {
    Object.assign(node.stats.get('ann') ?? {}, { up: 0, down: 0 });
    await poll(panel);
    node.move('ann', 0, most);
    other.move('bob', 0, 10);
    await poll(panel);
  }
  t.is(await downOf(panel, 'bob'), 40);
  const before = await downOf(panel, 'ann');
  Object.assign(node.stats.get('ann') ?? {}, { up: 0, down: 0 });
  await poll(panel);
  node.move('ann', 0, 100);
  await poll(panel);
  t.is(await downOf(panel, 'ann'), before + 100, 'and it is counted on');
  t.deepEqual(panel.faults, []);
});

test.serial(
  'a panel that becomes one of ours is kept by our own calls, and another panel gets nothing',
  async (t) => {
    const world = await OlderWorld.start(t);
    const { panel, node, id: nodeId } = world;
    const id = await panel.addInbound({ nodeId });
    await world.sent();
    node.guid = 'c0ffee00-0000-4000-8000-000000000000';
    await world.probe();
    node.calls.length = 0;
    const added = await panel.call('/panel/api/clients/add', {
      body: { client: { email: 'ann' }, inboundIds: [id] },
    });
    t.regex(added.body.msg, /another panel answers there/);
    t.deepEqual(node.changes(), []);
    await panel.get(`/panel/api/x/nodes/acceptGuid/${nodeId}`, { method: 'POST' });
    await until(async () => {
      await world.reconcile();
      return node.emails.includes('ann');
    }, 'it is accepted');
  },
);
