// One poll in which many clients have moved bytes through the real core. The panel is stopped (SIGSTOP) while they do, so one
// poll, the first when it goes on, counts them all.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPanel } from './bench-panel.js';
import { middle } from './figures.js';
import { mainThreadOf } from './process-figures.js';
import { atMost, type Figure } from './report.js';
import { moveAll, until } from './vless.js';

const MOST_ACTIVE = 10_000;
const ROUNDS = 3;
const BYTES = 100;
const POLL_MS = 100;
const BLOCKED_MS = 30;
const PATIENCE_MS = 60_000;
const REST_MS = 1000;

interface Job {
  readonly plugin: string;
  readonly job: string;
  readonly nextAt: number;
  readonly runningSince: number;
  readonly lastAt: number;
  readonly lastTookMs: number;
}

const upOf = async (bench: BenchPanel, inboundId: number): Promise<number> =>
  (await bench.api.get<{ up: number }>(`/panel/api/inbounds/get/${inboundId}`)).up;

async function uuidsOf(bench: BenchPanel, count: number): Promise<string[]> {
  const uuids: string[] = [];
  for (let page = 1; uuids.length < count; page++) {
    const { items } = await bench.api.get<{ items: { uuid: string }[] }>(
      `/panel/api/clients/list/paged?pageSize=200&page=${page}&sort=email`,
    );
    if (items.length === 0) throw new Error(`there are only ${uuids.length} clients`);
    uuids.push(...items.map(({ uuid }) => uuid));
  }
  return uuids.slice(0, count);
}

async function pollWhich(bench: BenchPanel, isIt: (job: Job) => boolean): Promise<Job> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50)) {
    const jobs = await bench.api.get<Job[]>('/panel/api/system/jobs');
    const found = jobs.find(({ plugin, job }) => plugin === 'traffic' && job === 'poll');
    if (found && isIt(found)) return found;
  }
  throw new Error('no poll came');
}

/** How long the first poll took that began after this time. */
const tookSince = async (bench: BenchPanel, at: number): Promise<number> =>
  (await pollWhich(bench, ({ lastAt }) => lastAt >= at)).lastTookMs;

/** Resolves at a moment at which none runs or is about to. */
const between = (bench: BenchPanel): Promise<Job> =>
  pollWhich(bench, ({ runningSince, nextAt }) => runningSince === 0 && nextAt - Date.now() > REST_MS);

export async function polls(bench: BenchPanel, echoPort: number): Promise<Figure[]> {
  const active = Math.min(bench.clients, MOST_ACTIVE);
  const inboundId = bench.inboundIds.at(-1) ?? 0;
  const uuids = await uuidsOf(bench, active);
  // Clients are answered before the core has them.
  await until(bench.way(echoPort), await bench.uuidOf(bench.clients - 1), true);
  const idle: number[] = [];
  for (let round = 0; round < ROUNDS; round++) idle.push(await tookSince(bench, Date.now()));
  const took: number[] = [];
  const blocked: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await between(bench);
    const before = await upOf(bench, inboundId);
    process.kill(bench.pid, 'SIGSTOP');
    let moved = 0;
    // Heard when the panel goes on: the stop is not a block of its own.
    const goesOn = bench.figures();
    try {
      moved = await moveAll(bench.way(echoPort), uuids, BYTES);
    } finally {
      process.kill(bench.pid, 'SIGCONT');
    }
    if (moved !== active) throw new Error(`only ${moved} of ${active} clients were served`);
    const resumed = Date.now();
    const used = await mainThreadOf(bench.pid);
    await goesOn;
    took.push(await tookSince(bench, resumed));
    cpu.push((await mainThreadOf(bench.pid)) - used);
    blocked.push((await bench.figures()).blockedMs);
    const counted = (await upOf(bench, inboundId)) - before;
    if (counted !== active * BYTES) throw new Error(`${counted} bytes were counted, not ${active * BYTES}`);
  }
  const name = `poll, ${active.toLocaleString('en')} active`;
  return [
    { what: 'poll, nobody active', value: middle(idle), unit: 'ms' },
    { what: name, value: middle(took), unit: 'ms', goal: atMost(POLL_MS, 'ms') },
    { what: `${name}: CPU of the main thread`, value: middle(cpu), unit: 'ms' },
    {
      what: `${name}: event loop blocked`,
      value: middle(blocked),
      unit: 'ms',
      goal: atMost(BLOCKED_MS, 'ms'),
    },
  ];
}
