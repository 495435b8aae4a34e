// Real cores, real bytes, and panels that are killed: a central and two nodes as processes. Afterwards the bytes that were
// served are the bytes that each counted, all panels agree, and nothing that was deleted is there.
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import {
  connect,
  counted,
  MIB,
  openServer,
  poll,
  spawnPanel,
  usageOf,
  within,
} from '../../../test/engine/user.js';
import { freePort, until } from '../../../test/harness/index.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { addNode } from './world.js';

interface Machine {
  panel: PanelProcess;
  readonly dataDirectory: string;
  readonly port: number;
}

async function machine(t: ExecutionContext): Promise<Machine> {
  const [dataDirectory, port] = [await folderFor(t), await freePort()];
  const env = { WEIR_PANEL_PORT: String(port) };
  return { dataDirectory, port, panel: await spawnPanel(t, { dataDirectory, env }) };
}

/** Killed in the middle of whatever it does, and started again. */
async function kill(
  t: ExecutionContext,
  site: Machine,
  meanwhile: () => Promise<void> = async () => undefined,
) {
  await site.panel.kill('SIGKILL');
  await meanwhile();
  const env = { WEIR_PANEL_PORT: String(site.port) };
  site.panel = await spawnPanel(t, { dataDirectory: site.dataDirectory, env });
}

const emailsOf = async (panel: PanelProcess): Promise<string[]> =>
  (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email).sort();

test('bytes through nodes count once at each panel while panels are killed, and all agree afterwards', async (t) => {
  const central = await machine(t);
  const nodes = [await machine(t), await machine(t)] as const;
  const [one, two] = nodes;
  const ids = [await addNode(central.panel, 'one', one), await addNode(central.panel, 'two', two)] as const;
  const online = () =>
    until(async () => {
      for (const id of ids) await central.panel.call(`/panel/api/nodes/probe/${id}`, { method: 'POST' });
      const all = await central.panel.get<{ status: string }[]>('/panel/api/nodes/list');
      return all.every(({ status }) => status === 'online');
    }, 'both nodes are online');
  await online();
  const inbounds = [
    await central.panel.addInbound({ nodeId: ids[0] }),
    await central.panel.addInbound({ nodeId: ids[1] }),
  ] as const;
  await central.panel.addClient('ann', [...inbounds]);
  await central.panel.addClient('bob', [inbounds[0]]);
  await central.panel.addClient('cyd', [inbounds[0]]);
  const server = await openServer(t);
  // By the links of the central, which lead to the nodes.
  const [far, farther] = [
    await connect(t, central.panel, 'ann', server, 0),
    await connect(t, central.panel, 'ann', server, 1),
  ];
  const cyd = await connect(t, central.panel, 'cyd', server);
  t.is(await far.download(4 * MIB), 4 * MIB);
  t.is(await farther.download(2 * MIB), 2 * MIB);
  t.true(within(await counted(central.panel, 'ann', 6 * MIB), 6 * MIB));

  // The central is killed while bytes move; the nodes serve and count on.
  const during = far.start(8 * MIB, 4 * MIB);
  await sleep(500);
  await kill(t, central, async () => void (await sleep(500)));
  t.is(await during.ended, 8 * MIB);
  await online();
  t.true(within(await counted(central.panel, 'ann', 14 * MIB), 14 * MIB));

  // A node is killed; its core serves on. Meanwhile the central edits.
  const other = far.start(8 * MIB, 4 * MIB);
  await sleep(500);
  await kill(t, one, async () => {
    await central.panel.get('/panel/api/clients/del/cyd', { body: {} });
    await central.panel.get('/panel/api/clients/update/bob', { body: { email: 'rob' } });
    await central.panel.addClient('dan', [inbounds[0]]);
  });
  t.is(await other.ended, 8 * MIB);
  await online();
  await until(
    async () => (await emailsOf(one.panel)).join() === 'ann,dan,rob',
    'the node has what was edited',
  );
  t.false(await cyd.served(), 'a client that was deleted while its node was killed stays deleted');
  t.true(within(await counted(central.panel, 'ann', 22 * MIB), 22 * MIB));

  // What each node counted is what the central counted of it, to the byte.
  for (const { panel } of nodes) await poll(panel);
  await poll(central.panel);
  const here = await usageOf(central.panel, 'ann');
  const usedBy = async (panel: PanelProcess) =>
    (await panel.get<{ tag: string; up: number; down: number }[]>('/panel/api/inbounds/list')).map(
      ({ tag, up, down }) => ({ tag, up, down }),
    );
  const total = await usedBy(central.panel);
  t.deepEqual(total, [...(await usedBy(one.panel)), ...(await usedBy(two.panel))]);
  t.deepEqual(await emailsOf(central.panel), ['ann', 'dan', 'rob']);
  t.deepEqual(await emailsOf(two.panel), ['ann']);

  // The quota is used up on one node: both cut.
  await central.panel.get('/panel/api/clients/update/ann', { body: { totalGB: here.up + here.down + MIB } });
  await far.download(2 * MIB);
  await until(async () => {
    await poll(one.panel);
    await poll(central.panel);
    return !(await usageOf(central.panel, 'ann')).enable;
  }, 'the quota is reached');
  await until(async () => !(await farther.served()), 'the other node has cut the client');
  t.deepEqual([...central.panel.faults, ...one.panel.faults, ...two.panel.faults], []);
});
