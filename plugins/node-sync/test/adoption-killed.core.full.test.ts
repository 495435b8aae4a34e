// Real cores, and panels that are killed while the clients of a node are adopted and bytes move: all are there once, and the
// bytes that the node counted are those that the central counts.
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { connect, MIB, openServer, poll, spawnPanel, usageOf } from '../../../test/engine/user.js';
import { freePort, until } from '../../../test/harness/index.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import type { Adoption } from './adoption-world.js';
import { addNode } from './world.js';

const COUNT = 4_000;
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
async function kill(t: ExecutionContext, site: Machine): Promise<void> {
  await site.panel.kill('SIGKILL');
  const env = { WEIR_PANEL_PORT: String(site.port) };
  site.panel = await spawnPanel(t, { dataDirectory: site.dataDirectory, env });
}
const countOf = async (panel: PanelProcess): Promise<number> =>
  (await panel.get<unknown[]>('/panel/api/clients/list')).length;

test('an adoption that is killed again and again ends with each client and each byte once', async (t) => {
  t.timeout(600_000);
  const [central, node] = [await machine(t), await machine(t)];
  const inbound = await node.panel.addInbound({ tag: 'big' });
  await node.panel.get('/panel/api/clients/bulkCreate', {
    body: Array.from({ length: COUNT - 1 }, (_, i) => ({
      client: { email: `c${i}` },
      inboundIds: [inbound],
    })),
  });
  await node.panel.addClient('ann', [inbound]);
  const server = await openServer(t);
  const user = await connect(t, node.panel, 'ann', server);
  t.is(await user.download(2 * MIB), 2 * MIB);
  await poll(node.panel);
  const during = user.start(24 * MIB, MIB);
  const id = await addNode(central.panel, 'fra', node);
  const stages: number[] = [];
  const alive = async (): Promise<void> => {
    await until(async () => {
      await central.panel.call(`/panel/api/nodes/probe/${id}`, { method: 'POST' });
      return (await central.panel.get<{ status: string }>(`/panel/api/nodes/get/${id}`)).status === 'online';
    }, 'the node is online');
    void central.panel
      .call(`/panel/api/x/node-sync/${id}/reconcile`, { method: 'POST' })
      .catch(() => undefined);
  };
  for (const site of [central, central, node, central, node]) {
    await sleep(300 + Math.random() * 900);
    await kill(t, site);
    await alive();
    stages.push(await countOf(central.panel));
  }
  const state = () => central.panel.get<Adoption>(`/panel/api/x/node-sync/${id}/adoption`);
  const pending = async () =>
    (await central.panel.get<{ pending: number }[]>('/panel/api/x/node-sync'))[0]?.pending ?? -1;
  const deadline = Date.now() + 180_000;
  while ((await state()).adopted[0]?.isDone !== true || (await pending()) > 0) {
    t.true(Date.now() < deadline, JSON.stringify(await state()).slice(0, 500));
    await alive();
    await sleep(500);
  }
  t.log(`clients at the central after each kill: ${stages.join(', ')}`);
  t.is(await during.ended, 24 * MIB);
  t.deepEqual((await state()).left, []);
  t.deepEqual([await countOf(central.panel), await countOf(node.panel)], [COUNT, COUNT]);
  await sleep(300);
  const both = async () => {
    await poll(node.panel);
    await poll(central.panel);
    return [await usageOf(node.panel, 'ann'), await usageOf(central.panel, 'ann')] as const;
  };
  await both();
  const [there, here] = await both();
  t.true(there.down >= 26 * MIB, `${there.down} bytes at the node`);
  t.deepEqual([here.up, here.down], [there.up, there.down]);
  t.deepEqual([...central.panel.faults, ...node.panel.faults], []);
});
