// A real panel as one more node, which is killed and comes back.
import { cpuOf } from '../bench/process-figures.js';
import type { Figure } from '../bench/report.js';
import { freePort } from '../harness/api.js';
import { PanelProcess } from '../harness/panel-process.js';
import { emailOf, ENTRY, ENV, type World } from './world.js';

/** A real panel as a node: it gets `count` clients at once, then is killed while all of them change. */
export async function realNode(world: World, count: number): Promise<Figure[]> {
  const { central } = world;
  const port = await freePort();
  const start = (dataDirectory?: string) =>
    PanelProcess.start({
      entry: ENTRY,
      env: { ...ENV, WEIR_PANEL_PORT: String(port) },
      ...(dataDirectory !== undefined && { dataDirectory }),
    });
  let node = await start();
  const { dataDirectory } = node;
  try {
    const { token } = await node.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'central', kind: 'node' },
    });
    const name = `real ${count}`;
    await central.get('/panel/api/nodes/add', {
      body: {
        name,
        scheme: 'http',
        address: '127.0.0.1',
        port,
        basePath: '/',
        apiToken: token,
        enable: true,
        allowPrivateAddress: true,
      },
    });
    const { id = 0 } = (await world.list()).find((one) => one.name === name) ?? {};
    const inboundId = await central.addInbound({ nodeId: id, remark: name });
    const emails = (from: number) =>
      Array.from({ length: Math.min(1000, count - from) }, (_, i) => emailOf(from + i));
    const stalls = await world.watch([node, central]);
    const cpu = await cpuOf(node.pid);
    const began = performance.now();
    for (let from = 0; from < count; from += 1000)
      await central.get('/panel/api/clients/bulkAttach', {
        body: { emails: emails(from), inboundIds: [inboundId] },
      });
    await world.until(() => world.haveAll([id]), 'the node has all');
    const first = performance.now() - began;
    const cpuFirst = (await cpuOf(node.pid)) - cpu;
    const held = await stalls('all clients are new: ');
    await node.kill('SIGKILL');
    await world.until(() => world.allAre('offline', [id]), 'it is offline');
    await world.edit(0, count);
    node = await start(dataDirectory);
    const again = await world.watch([node, central]);
    const isBack = () => world.haveAll([id]);
    const back = await world.until(isBack, 'it has all again');
    const heldAgain = await again('away, all clients changed: ');
    const has = await node.get<{ total: number }>('/panel/api/clients/list/paged');
    if (has.total !== count) throw new Error(`the node has ${has.total} clients`);
    return [
      { what: 'all clients are new', value: first / 1000, unit: 's' },
      { what: 'all clients are new: CPU of the node for 1,000', value: cpuFirst / count, unit: 'ms' },
      ...held,
      { what: 'away, all clients changed', value: back / 1000, unit: 's' },
      ...heldAgain,
    ];
  } finally {
    await node.dispose();
  }
}
