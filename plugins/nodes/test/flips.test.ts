// Changes of status as events, notifications and live messages, and what rests between heartbeats.
import test from 'ava';
import { contribute, definePlugin, tap } from '../../../kernel/index.js';
import { FakeEngine, until } from '../../../test/harness/index.js';
import { Channels, type Notification } from '../../notifications/contract.js';
import { type NodeEntry, type NodeFlip, Nodes, type NodesApi, nodesFlipped } from '../contract.js';
import { add, boot, list, local, NODES, server, STATUS, statusOf } from './world.js';

function watcher() {
  const rounds: (readonly NodeFlip[])[] = [];
  const told: Notification[] = [];
  const world = { nodes: undefined as NodesApi | undefined };
  const plugin = definePlugin({
    name: 'watcher',
    version: '1.0.0',
    api: 1,
    about: 'Watches.',
    uses: { nodes: Nodes },
    taps: () => [tap(nodesFlipped, ({ flips }) => void rounds.push(flips))],
    contributes: () => [
      contribute(Channels, {
        name: 'watcher',
        isOn: () => true,
        send: async (notification) => void told.push(notification),
      }),
    ],
    start: ({ nodes }) => void (world.nodes = nodes),
  });
  return { plugin, rounds, told, world };
}

test('many nodes that go down at once are one event and one notification', async (t) => {
  const { plugin, rounds, told, world } = watcher();
  const { panel } = await boot(t, {
    plugins: [new FakeEngine().plugin, plugin],
    // Its calls would be among those that are counted.
    without: ['node-sync', 'older-nodes'],
  });
  await panel.get('/panel/api/setting/update', { body: { nodeDownThreshold: 1 } });
  const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
  const far = await Promise.all(
    names.map((name) => server(t, statusOf({ ...STATUS, panelGuid: `guid-of-${name}` }))),
  );
  for (const [i, name] of names.entries()) await add(panel, local(far[i]?.port ?? 0, 'token', { name }));
  const nodes = world.nodes as NodesApi;
  t.is(nodes.byGuid('guid-of-two')?.name, 'two');
  t.true(nodes.list().every(({ isSure, status }: NodeEntry) => isSure && status === 'online'));
  t.false(JSON.stringify(nodes.list()).includes('"apiToken"'));
  rounds.length = 0;
  told.length = 0;

  const beat = () => panel.get('/panel/api/system/jobs/nodes/heartbeat', { method: 'POST' });
  const answers = far.map(({ answer }) => answer);
  for (const one of far) one.answer = (_request, response) => void response.destroy();
  await beat();
  await until(() => told.length === 1, 'a notification');
  t.is(rounds.length, 1);
  t.is(rounds[0]?.length, 7);
  t.is(told[0]?.event, 'nodeDown');
  t.regex(told[0]?.text ?? '', /^7 nodes are offline: .*, and 2 more\.$/);
  t.is((told[0]?.data['nodes'] as unknown[] | undefined)?.length, 7);
  await beat();
  t.is(rounds.length, 1, 'told once');

  for (const [i, one] of far.entries()) if (answers[i]) one.answer = answers[i];
  await beat();
  await until(() => told.length === 2, 'a notification');
  t.is(told[1]?.event, 'nodeUp');

  // A heartbeat is one small request on a connection that stays open.
  const sockets = new Set<unknown>();
  for (const { server: each } of far) each.on('connection', (socket) => sockets.add(socket));
  const before = far.reduce((sum, { asked }) => sum + asked.length, 0);
  for (let i = 0; i < 7; i++) await beat();
  const asked = far.reduce((sum, one) => sum + one.asked.length, 0) - before;
  t.is(asked, 7 * 7 + 7, 'seven of each, and the tree of each once');
  t.is(sockets.size, 0);

  // Calls of other plugins.
  const [first] = await list(panel);
  const reply = await nodes.call(first?.id ?? 0, 'panel/api/x/node/state?central=1');
  t.is(reply.status, 200);
  t.is(far[0]?.asked.at(-1), 'GET /panel/api/x/node/state?central=1');
  await panel.get(`${NODES}/setEnable/${first?.id}`, { body: { enable: false } });
  await t.throwsAsync(nodes.call(first?.id ?? 0, 'panel/api/server/status'), { message: /is disabled/ });
  await t.throwsAsync(nodes.call(99, 'panel/api/server/status'), { message: /no node 99/ });
  t.deepEqual(panel.faults, []);
});

test('updates are started on nodes that are online, with a result for each', async (t) => {
  const { panel } = await boot(t);
  const far = await server(t, statusOf(STATUS));
  const refusing = await server(t, statusOf({ ...STATUS, panelGuid: 'guid-of-refusing' }));
  const online = await add(panel, local(far.port, 'token', { name: 'online' }));
  const refuses = await add(panel, local(refusing.port, 'token', { name: 'refuses' }));
  const off = await add(panel, local(1, 'token', { name: 'off', enable: false }));
  refusing.answer = (_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(
      '{"success":false,"msg":"there is nothing at this path","obj":null,"code":"KERNEL_NOT_FOUND"}',
    );
  };
  const results = await panel.get<{ id: number; ok: boolean; error: string }[]>(`${NODES}/updatePanel`, {
    body: { ids: [online, refuses, off, 99, online], dev: true },
  });
  t.deepEqual(
    results.map(({ id, ok }) => [id, ok]),
    [
      [online, true],
      [refuses, false],
      [off, false],
      [99, false],
    ],
  );
  t.regex(results[1]?.error ?? '', /404/);
  t.regex(results[2]?.error ?? '', /disabled/);
  t.true(far.asked.includes('POST /panel/api/server/updatePanel'));
});
