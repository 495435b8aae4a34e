// What `npm run bench` measures and prints.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { arch, cpus, platform } from 'node:os';
import { fileURLToPath } from 'node:url';
import { PanelProcess } from '../harness/panel-process.js';
import { freePort } from '../harness/panel.js';
import { applyLoad, CONNECTIONS, generator, type Load } from './load.js';
import { timePoll } from './poll.js';
import { seed, subIdOf } from './seed.js';

const SMALL = 100;
const EDITS = 40;
const ROUNDS = 3;
const SECONDS = 4;

const say = (text: string) => process.stdout.write(`${text}\n`);
const row = (what: string, ...figures: string[]) =>
  say(`${what.padEnd(44)}${figures.map((figure) => figure.padStart(16)).join('')}`);
const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const ms = (value: number): string => `${value.toFixed(1)} ms`;
const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;

async function medianOf(times: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let n = 0; n < times; n++) {
    const began = performance.now();
    await work(n);
    taken.push(performance.now() - began);
  }
  return middle(taken);
}

interface Edits {
  readonly add: number;
  readonly credentials: number;
  readonly comment: number;
  readonly page: number;
  readonly search: number;
}

let added = 0;
async function timeEdits(panel: PanelProcess, inboundIds: readonly number[]): Promise<Edits> {
  return {
    add: await medianOf(EDITS, () =>
      panel.get('/panel/api/clients/add', { body: { client: { email: `one${++added}@bench` }, inboundIds } }),
    ),
    credentials: await medianOf(EDITS, (n) =>
      panel.get(`/panel/api/clients/update/user${n}@bench`, { body: { uuid: randomUUID() } }),
    ),
    comment: await medianOf(EDITS, (n) =>
      panel.get(`/panel/api/clients/update/user${n}@bench`, { body: { comment: `edited ${randomUUID()}` } }),
    ),
    page: await medianOf(EDITS, () => panel.get('/panel/api/clients/list/paged?sort=email')),
    search: await medianOf(EDITS, (n) => panel.get(`/panel/api/clients/list/paged?search=${n * 7 + 1}`)),
  };
}

async function bareServer(answer: {
  headers: [string, string][];
  body: string;
}): Promise<{ url: string; pid: number; stop: () => void }> {
  const child = fork(fileURLToPath(new URL('./bare-server.js', import.meta.url)));
  child.send(answer);
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => void child.kill() };
}

/** CPU time of a process so far, all its threads, in µs; what it did for one request says more on a busy machine than how many it answered. */
async function cpuOf(pid: number): Promise<number> {
  const [, figures = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
  const [user, system] = figures.split(' ').slice(11, 13).map(Number);
  return 10_000 * ((user ?? 0) + (system ?? 0));
}

async function measured(load: Load, pid: number) {
  const before = await cpuOf(pid);
  const outcome = await applyLoad(load);
  return { ...outcome, cpu: ((await cpuOf(pid)) - before) / outcome.answered };
}
type Measured = Awaited<ReturnType<typeof measured>>;

/** Rounds alternate, so that a machine that slows down slows both. Both are asked the same, by the same generator. */
async function besideBare(
  pid: number,
  url: string,
  suffixes: readonly string[],
  headers: Readonly<Record<string, string>> = {},
) {
  const sample = await fetch(url + suffixes[0], { headers });
  const body = await sample.text();
  const bare = await bareServer({ headers: [...sample.headers], body });
  try {
    const ours: Measured[] = [],
      theirs: Measured[] = [];
    const load = { suffixes, headers, seconds: SECONDS };
    const same = { ...load, url: bare.url + new URL(url).pathname };
    await applyLoad({ ...load, url, seconds: 2 });
    await applyLoad({ ...same, seconds: 2 });
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await measured(same, bare.pid));
      ours.push(await measured({ ...load, url }, pid));
    }
    const of = (figure: 'perSecond' | 'cpu') => {
      const [own, ceiling] = [ours, theirs].map((all) => all.map((one) => one[figure])) as [
        number[],
        number[],
      ];
      return {
        own: middle(own),
        bare: middle(ceiling),
        ratio: middle(own.map((value, i) => value / (ceiling[i] ?? Infinity))),
      };
    };
    return {
      rate: of('perSecond'),
      cpu: of('cpu'),
      bytes: body.length,
      failed: ours.reduce((sum, { failed }) => sum + failed, 0),
    };
  } finally {
    bare.stop();
  }
}

const memoryOf = async (pid: number): Promise<number> =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);

export async function bench(clients: number): Promise<void> {
  say(
    `Node ${process.versions.node}, ${platform()} ${arch()}, ${cpus().length} cores; SQLite; 5 inbounds, every client on all of them; load by ${generator}, ${CONNECTIONS} connections`,
  );
  let panel = await PanelProcess.start();
  try {
    const kinds = [
      ['vless', 'tcp'],
      ['vless', 'ws'],
      ['trojan', 'tcp'],
      ['trojan', 'ws'],
      ['vless', 'tcp'],
    ] as const;
    const inboundIds: number[] = [];
    for (const [protocol, network] of kinds)
      inboundIds.push(
        await panel.addInbound({
          protocol,
          port: await freePort(),
          remark: `${protocol}-${network}`,
          streamSettings: { network, ...(network === 'ws' && { wsSettings: { path: '/ws' } }) },
        }),
      );

    await seed(panel, SMALL, inboundIds);
    const few = await timeEdits(panel, inboundIds);
    const began = performance.now();
    await seed(panel, clients - SMALL, inboundIds, SMALL);
    const seeding = (performance.now() - began) / 1000;
    const many = await timeEdits(panel, inboundIds);
    say('');
    row('one call, median', `${SMALL} clients`, `${clients} clients`, 'ratio');
    const compare = (what: string, key: keyof Edits) =>
      row(what, ms(few[key]), ms(many[key]), (many[key] / few[key]).toFixed(2));
    compare('add a client to 5 inbounds, core told', 'add');
    compare("change a client's UUID, core told", 'credentials');
    compare("change a client's comment", 'comment');
    compare('first page, sorted by email', 'page');
    compare('a search', 'search');
    row('create clients, 1,000 a call', '', `${((clients - SMALL) / seeding).toFixed(0)}/s`);

    const subIds = Array.from({ length: Math.min(clients, 10_000) }, (_, n) => subIdOf(n));
    const subscription = await besideBare(panel.pid, panel.ready.subUrl, subIds);
    const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'bench' },
    });
    const admin = await besideBare(
      panel.pid,
      `${panel.url}/panel/api/clients/get/`,
      subIds.map((_, n) => `user${n}@bench`),
      { authorization: `Bearer ${token}` },
    );
    say('');
    row('requests a second', 'ours', 'bare node:http', 'of bare', 'bytes');
    const rates = (what: string, { rate, bytes }: typeof admin) =>
      row(what, rate.own.toFixed(0), rate.bare.toFixed(0), percent(rate.ratio), String(bytes));
    rates('subscription fetch, share links', subscription);
    rates('clients/get with an API token', admin);
    row('CPU for one request', 'ours', 'bare node:http', 'bare of ours');
    const costs = (what: string, { cpu }: typeof admin) =>
      row(what, `${cpu.own.toFixed(1)} µs`, `${cpu.bare.toFixed(1)} µs`, percent(1 / cpu.ratio));
    costs('subscription fetch, share links', subscription);
    costs('clients/get with an API token', admin);
    if (subscription.failed + admin.failed > 0)
      say(`${subscription.failed + admin.failed} requests were not answered with 200`);
    row('memory under that load', `${await memoryOf(panel.pid)} MiB`);

    const { dataDirectory } = panel;
    await panel.kill('SIGTERM');
    const start = performance.now();
    panel = await PanelProcess.start({ dataDirectory });
    say('');
    row(`start with ${clients} clients, core serving`, ms(performance.now() - start));
  } finally {
    await panel.dispose();
  }
  const poll = await timePoll(clients);
  row(`one poll, ${clients} counters moved`, ms(poll.ms), `stall ${ms(poll.longestStallMs)}`);
}
