// `npm run bench -- nodes`: a central with many nodes and clients. What they cost in rest, what an edit sends, how soon nodes
// that were away have everything, and how long that holds the event loops.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, Report } from '../bench/report.js';
import { PanelProcess } from '../harness/panel-process.js';
import { realNode } from './real-node.js';
import { addNodes, away, compared, listed, oneEdit, rest } from './scenes.js';
import { ENTRY, ENV, type NodeBenchOptions, StandIns, World } from './world.js';

const SETTLE_MS = 10_000;

/** Resolves with the number of goals that were missed. */
export async function nodeBench(options: NodeBenchOptions): Promise<number> {
  const report = new Report();
  const standIns = new StandIns();
  const central = await PanelProcess.start({ entry: ENTRY, env: ENV });
  const world = new World(central, standIns, options);
  const scene = async (title: string, run: () => Promise<Figure[]>) =>
    report.add(title, options.clients, await run());
  try {
    await scene(`${options.nodes} nodes get their clients`, () => addNodes(world));
    await sleep(SETTLE_MS);
    await scene('rest', () => rest(world));
    await scene('a tenth of the clients move bytes', () => rest(world, 0.1));
    await scene('a list of all nodes', () => listed(world));
    await scene('one edited client', () => oneEdit(world));
    await scene(`one node was away, ${world.perNode} clients changed`, () => away(world, 1));
    await scene('all nodes were away, all clients changed', () => away(world, options.nodes));
    await scene('all nodes are compared', () => compared(world));
    if (options.real)
      for (const count of [world.perNode, options.clients])
        await scene(`a real panel with ${count} clients`, () => realNode(world, count));
  } finally {
    standIns.stop();
    await central.dispose();
  }
  return report.print();
}
