// `npm run soak`: users move bytes, programs fetch subscriptions, an admin edits, pages listen, polls count; all at once and
// for long. Says each minute what happens, and at the end what held.
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchPanel } from '../bench/bench-panel.js';
import { cpuOf, memoryOf } from '../bench/process-figures.js';
import { table } from '../bench/report.js';
import { subIdOf } from '../bench/seed.js';
import { echoServer, until } from '../bench/vless.js';
import { LoadChild, type Seen } from './child.js';
import { Edits } from './edits.js';
import type { FetchesStart } from './fetches-process.js';
import { countedOf, invariants, logOf } from './last-checks.js';
import type { ReadersStart } from './readers-process.js';
import type { UsersSeen, UsersStart } from './users-process.js';
import {
  flatMemory,
  type Held,
  held,
  noFailures,
  percentile,
  type Sample,
  sameBytes,
  type Verdict,
} from './verdict.js';

const SAMPLE_MS = 1000;
const MINUTE_MS = 60_000;
/** A user costs the core 0.2 to 0.4 ms; 100,000 clients are 500,000 users. */
const CORE_LIMIT_MS = 600_000;
/** The first and the last ten minutes of an hour. */
const PARTS = 6;

export interface SoakOptions {
  /** of the core */
  readonly binary: string;
  readonly minutes: number;
  readonly clients: number;
  readonly users: number;
  readonly fetchesPerSecond: number;
  readonly editsPerSecond: number;
  readonly readers: number;
  /** share of its mean by which memory may grow */
  readonly growth: number;
  readonly held: Held;
  readonly say: (text: string) => void;
}

const KINDS = ['fetches', 'edits', 'users', 'readers'] as const;
type Kind = (typeof KINDS)[number];

/** All that was seen, by kind of load. */
class Record {
  readonly began = performance.now();
  readonly memory: Sample[] = [];
  readonly polls: Sample[] = [];
  readonly latencies: { readonly [kind in Kind]: Sample[] } = {
    fetches: [],
    edits: [],
    users: [],
    readers: [],
  };
  readonly done: { [kind in Kind]: number } = { fetches: 0, edits: 0, users: 0, readers: 0 };
  readonly failures: string[] = [];

  get at(): number {
    return performance.now() - this.began;
  }
  add(kind: Kind, { latencies, done, failures }: Seen): void {
    const { at } = this;
    for (const value of latencies) this.latencies[kind].push({ at, value });
    this.done[kind] += done;
    this.failures.push(...failures);
  }
}

interface Load {
  readonly fetches: LoadChild;
  readonly users: LoadChild<UsersSeen>;
  readonly readers: LoadChild;
  readonly edits: Edits;
}

const HEAD = [
  'minute',
  'memory, MiB',
  'CPU, %',
  'poll at most, ms',
  'fetches',
  'p99, ms',
  'edits',
  'p99, ms',
  'MB moved',
  'messages',
  'failures',
];

/** Resolves when the core serves all clients: until then it takes them in, which would stand in the first part. */
async function allServed(bench: BenchPanel): Promise<void> {
  const server = await echoServer();
  const last = await bench.uuidOf(bench.clients - 1);
  const ms = await until(bench.way(server.port), last, true, CORE_LIMIT_MS).finally(() => server.stop());
  process.stderr.write(`  the core has them ${(ms / 1000).toFixed(0)} s later\n`);
}

async function startLoad(bench: BenchPanel, options: SoakOptions): Promise<Load> {
  const { api } = bench;
  const links: string[] = [];
  for (let n = 0; n < options.users; n++) {
    const all = await api.get<string[]>(`/panel/api/clients/links/user${n}@bench`);
    links.push(all[n % all.length] ?? '');
  }
  // The admin edits one half; what is fetched is of the other, or a disabled client's empty list would look like a fault.
  const half = Math.ceil((options.clients + options.users) / 2);
  const numbers = Array.from({ length: options.clients }, (_, n) => n);
  const edited = numbers.slice(half).map((n) => `user${n}@bench`);
  const users = await LoadChild.start<UsersStart, UsersSeen>('./users-process.js', {
    binary: options.binary,
    links,
  });
  const readers = await LoadChild.start<ReadersStart>('./readers-process.js', {
    url: api.url,
    cookie: api.cookie,
    count: options.readers,
  });
  const fetches = await LoadChild.start<FetchesStart>('./fetches-process.js', {
    url: api.ready.subUrl,
    subIds: numbers.slice(0, half).map(subIdOf),
    perSecond: options.fetchesPerSecond,
  });
  const edits = new Edits({
    panel: api,
    inboundIds: bench.inboundIds,
    emails: edited,
    perSecond: options.editsPerSecond,
  });
  return { users, readers, fetches, edits };
}

async function pollOf(bench: BenchPanel): Promise<number> {
  const jobs =
    await bench.api.get<{ plugin: string; job: string; lastTookMs: number }[]>('/panel/api/system/jobs');
  return jobs.find(({ plugin, job }) => plugin === 'traffic' && job === 'poll')?.lastTookMs ?? 0;
}

/** Looks every second, and says each minute what happened in it. */
async function watch(
  bench: BenchPanel,
  load: Load,
  record: Record,
  { minutes, say }: SoakOptions,
): Promise<void> {
  const rows: string[][] = [];
  let moved = 0;
  let cpu = await cpuOf(bench.pid);
  for (let minute = 1; minute <= minutes; minute++) {
    const from = record.at;
    const before = { ...record.done, failures: record.failures.length };
    let total = moved;
    while (record.at < minute * MINUTE_MS) {
      await sleep(SAMPLE_MS);
      const [fetches, users, readers] = await Promise.all([
        load.fetches.tell(),
        load.users.tell(),
        load.readers.tell(),
      ]);
      record.add('fetches', fetches);
      record.add('users', users);
      record.add('readers', readers);
      record.add('edits', load.edits.tell());
      total = users.moved.reduce((sum, { up, down }) => sum + up + down, 0);
      const { at } = record;
      record.memory.push({ at, value: (await memoryOf(bench.pid)).now });
      record.polls.push({ at, value: await pollOf(bench) });
    }
    const late = (samples: readonly Sample[]) =>
      samples.flatMap(({ at, value }) => (at > from ? [value] : []));
    const used = (await cpuOf(bench.pid)) - cpu;
    cpu += used;
    rows.push([
      String(minute),
      Math.max(...late(record.memory)).toFixed(0),
      (used / 10 / (record.at - from)).toFixed(0),
      Math.max(...late(record.polls)).toFixed(0),
      String(record.done.fetches - before.fetches),
      percentile(late(record.latencies.fetches), 0.99).toFixed(1),
      String(record.done.edits - before.edits),
      percentile(late(record.latencies.edits), 0.99).toFixed(1),
      ((total - moved) / 1e6).toFixed(1),
      String(record.done.readers - before.readers),
      String(record.failures.length - before.failures),
    ]);
    moved = total;
    process.stderr.write(`  ${HEAD.map((name, i) => `${name} ${rows.at(-1)?.[i]}`).join('; ')}\n`);
  }
  say(`\n${table(HEAD, rows)}`);
}

async function finish(
  bench: BenchPanel,
  load: Load,
  record: Record,
  options: SoakOptions,
): Promise<Verdict[]> {
  record.add('edits', await load.edits.finish());
  record.add('fetches', await load.fetches.finish());
  record.add('readers', await load.readers.finish());
  const users = await load.users.finish();
  record.add('users', users);
  const part = (options.minutes * MINUTE_MS) / PARTS;
  const done = KINDS.reduce((sum, kind) => sum + record.done[kind], 0);
  const deep = await invariants(bench);
  if (!deep)
    options.say('\nThis build has no `weir check --deep`; database, memory and core are not compared.');
  return [
    noFailures(record.failures, done),
    logOf(bench),
    flatMemory(record.memory, part, options.growth),
    ...(['fetches', 'edits', 'users'] as const).map((kind) =>
      held(kind, record.latencies[kind], part, options.held),
    ),
    sameBytes(users.moved, await countedOf(bench, users.moved)),
    ...(deep ? [deep] : []),
  ];
}

/** Resolves with what held and what did not. */
export async function soak(options: SoakOptions): Promise<readonly Verdict[]> {
  const { clients, say } = options;
  const bench = await BenchPanel.start();
  let load: Load | undefined;
  try {
    const seconds = await bench.growTo(clients);
    process.stderr.write(`  ${clients} clients were created in ${seconds.toFixed(0)} s\n`);
    await allServed(bench);
    load = await startLoad(bench, options);
    const record = new Record();
    await watch(bench, load, record, options);
    const verdicts = await finish(bench, load, record, options);
    const rows = verdicts.map(({ what, found, wanted, isGood }) => [
      what,
      found,
      wanted,
      isGood ? 'held' : '**not held**',
    ]);
    say(`\n${table(['at the end', 'found', 'wanted', ''], rows)}`);
    return verdicts;
  } finally {
    for (const child of [load?.fetches, load?.users, load?.readers]) child?.stop();
    await bench.dispose();
  }
}
