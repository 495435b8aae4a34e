// What is measured: the first clients, rest, an edit, nodes that were away, a comparison.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOf, mainThreadOf, memoryOf } from '../bench/process-figures.js';
import { atMost, type Figure } from '../bench/report.js';
import { seed } from '../bench/seed.js';
import { selfSigned } from '../harness/self-signed.js';
import { emailOf, type World } from './world.js';

const KIB = 1024;
const OFFLINE = 'offline';
/** Headers that belong to one reply. */
const NOT_COPIED = [
  'content-length',
  'content-encoding',
  'connection',
  'date',
  'keep-alive',
  'transfer-encoding',
];

export async function addNodes(world: World): Promise<Figure[]> {
  const { central, standIns, options } = world;
  const answer = await central.call<Record<string, unknown>>('/panel/api/server/status');
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !NOT_COPIED.includes(name)));
  const { cert, key } = selfSigned();
  const ports = await standIns.ask<number[]>({
    start: { count: options.nodes, cert, key, status: answer.body.obj, headers },
  });
  const add = (port: number, i: number) =>
    central.get('/panel/api/nodes/add', {
      body: {
        name: `node ${i}`,
        scheme: 'https',
        tlsVerifyMode: 'skip',
        address: '127.0.0.1',
        port,
        basePath: '/',
        apiToken: 'a'.repeat(43),
        enable: true,
        allowPrivateAddress: true,
      },
    });
  for (const [i, port] of ports.entries()) await add(port, i);
  world.ids = (await world.list()).map(({ id }) => id);
  for (const [i, nodeId] of world.ids.entries())
    world.inboundIds.push(await central.addInbound({ nodeId, port: 443, remark: `on ${i}`, listen: '' }));
  const began = performance.now();
  for (const [i, id] of world.inboundIds.entries())
    await seed(central, world.perNode, [id], i * world.perNode);
  const made = performance.now() - began;
  await world.until(() => world.haveAll(), 'all nodes have all clients');
  const seen = await standIns.tell();
  const all = seen.reduce((sum, { live }) => sum + live, 0);
  if (all !== options.nodes * (world.perNode + 1)) throw new Error(`the nodes have ${all} records`);
  return [
    { what: 'clients are created', value: made / 1000, unit: 's' },
    { what: 'until the nodes have all', value: (performance.now() - began) / 1000, unit: 's' },
    { what: 'bytes to all nodes', value: seen.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6, unit: 'MB' },
  ];
}

/** `busy`: a share of the clients move bytes before each poll. */
export async function rest(world: World, busy = 0): Promise<Figure[]> {
  const { central, standIns, options } = world;
  await standIns.tell();
  const stalls = await world.watch();
  const [cpu, began] = [await cpuOf(central.pid), performance.now()];
  while (performance.now() - began < options.seconds * 1000) {
    if (busy > 0) await standIns.ask({ use: busy });
    await sleep(Math.min(5000, options.seconds * 1000 - (performance.now() - began)));
  }
  const seconds = (performance.now() - began) / 1000;
  const used = (await cpuOf(central.pid)) - cpu;
  const seen = await standIns.tell();
  const bytes = Math.max(...seen.map((node) => node.bytes)) / seconds;
  const requests = seen.map((node) => Object.values(node.requests).reduce((sum, n) => sum + n, 0));
  const gap = Math.max(...seen.map(({ longestGap }) => longestGap));
  const kinds = seen.reduce<Record<string, number>>((sum, node) => {
    for (const [name, n] of Object.entries(node.requests)) sum[name] = (sum[name] ?? 0) + n;
    return sum;
  }, {});
  process.stderr.write(`  ${JSON.stringify(kinds)}\n`);
  return [
    {
      what: 'bytes of the busiest node, a second',
      value: bytes / KIB,
      unit: 'KiB',
      goal: atMost(20, 'KiB'),
    },
    {
      what: 'requests of the busiest node, in a minute',
      value: (60 * Math.max(...requests)) / seconds,
      unit: '',
      goal: atMost(30, ''),
    },
    { what: 'longest time between two heartbeats', value: gap, unit: 'ms', goal: atMost(5_000, 'ms') },
    { what: 'new connections', value: seen.reduce((sum, { connections }) => sum + connections, 0), unit: '' },
    {
      what: 'CPU of the central',
      value: used / 1e4 / seconds,
      unit: '%',
      goal: atMost(busy > 0 ? 30 : 10, '%'),
    },
    ...(await stalls('')),
    { what: 'memory of the central', value: (await memoryOf(central.pid)).now, unit: 'MiB' },
  ];
}

export async function oneEdit(world: World): Promise<Figure[]> {
  const { central, standIns } = world;
  await standIns.tell();
  const times: number[] = [];
  const EDITS = 20;
  for (let i = 0; i < EDITS; i++) {
    const began = performance.now();
    await central.get(`/panel/api/clients/update/${emailOf((i * world.perNode) % world.options.clients)}`, {
      body: { comment: `edit ${i}` },
    });
    times.push(performance.now() - began);
  }
  const seen = await standIns.tell();
  const calls = seen.reduce((sum, { requests }) => sum + (requests['apply'] ?? 0), 0);
  const median = times.toSorted((a, b) => a - b)[EDITS >> 1] ?? 0;
  return [
    { what: `requests for ${EDITS} edits`, value: calls, unit: '', goal: atMost(EDITS, '') },
    {
      what: 'bytes of the largest of them',
      value: Math.max(...seen.map(({ largestBody }) => largestBody)),
      unit: '',
      goal: atMost(2048, ''),
    },
    { what: 'the edit, until the node has it', value: median, unit: 'ms' },
  ];
}

/** So many nodes are away while all their clients change. */
export async function away(world: World, count: number): Promise<Figure[]> {
  const { central, standIns } = world;
  const ids = world.ids.slice(0, count);
  await standIns.ask({ away: true, from: 0, count });
  await world.until(() => world.allAre(OFFLINE, ids), 'they are offline');
  await world.edit(0, count * world.perNode);
  await standIns.tell();
  const stalls = await world.watch();
  const cpu = await cpuOf(central.pid);
  await standIns.ask({ away: false, from: 0, count });
  // What changed waits until they are back; a list of nodes would be work of another kind.
  const isBack = () => world.haveAll(ids);
  const took = await world.until(isBack, 'they have all');
  const bytes = (await standIns.tell()).reduce((sum, node) => sum + node.bytes, 0);
  const changed = count * world.perNode;
  return [
    { what: 'until all have all that changed', value: took / 1000, unit: 's' },
    {
      what: 'CPU of the central for 1,000 of them',
      value: ((await cpuOf(central.pid)) - cpu) / changed,
      unit: 'ms',
    },
    { what: 'bytes for each changed client', value: bytes / changed, unit: '', goal: atMost(1024, '') },
    ...(await stalls('')),
  ];
}

export async function compared(world: World): Promise<Figure[]> {
  const { central, standIns } = world;
  await standIns.tell();
  const stalls = await world.watch();
  const began = performance.now();
  for (const id of world.ids) await central.get(`/panel/api/x/node-sync/${id}/reconcile`, { method: 'POST' });
  const took = performance.now() - began;
  const calls = (await standIns.tell()).reduce(
    (sum, { requests }) => sum + (requests['state/records'] ?? 0),
    0,
  );
  return [
    { what: 'one after the other', value: took / 1000, unit: 's' },
    { what: 'records that had to be read again', value: calls, unit: '', goal: atMost(0, '') },
    ...(await stalls('')),
  ];
}

/** What a page with all nodes asks for, before and after edits. */
export async function listed(world: World): Promise<Figure[]> {
  const TIMES = 5;
  const list = async (before: () => Promise<unknown>) => {
    let used = 0;
    for (let i = 0; i < TIMES; i++) {
      await before();
      const since = await mainThreadOf(world.central.pid);
      await world.list();
      used += (await mainThreadOf(world.central.pid)) - since;
    }
    return used / TIMES;
  };
  await world.list();
  return [
    {
      what: 'CPU of the main thread',
      value: await list(async () => undefined),
      unit: 'ms',
      goal: atMost(50, 'ms'),
    },
    {
      what: 'CPU of the main thread, after an edit',
      value: await list(() => world.edit(0, 1)),
      unit: 'ms',
      goal: atMost(50, 'ms'),
    },
  ];
}
