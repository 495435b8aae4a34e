// A subscription fetch and an API call, beside a bare server that answers the same bytes in the same run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BenchPanel } from './bench-panel.js';
import { middle } from './figures.js';
import { applyLoad, type Load } from './load.js';
import { cpuOf } from './process-figures.js';
import type { Figure } from './report.js';
import { subIdOf } from './seed.js';

const ROUNDS = 3;
const SECONDS = 4;
const WARM_UP_SECONDS = 2;
const MOST_DIFFERENT = 10_000;

async function bareServer(answer: { headers: [string, string][]; body: string }) {
  const child = fork(fileURLToPath(new URL('./bare-server.js', import.meta.url)));
  child.send(answer);
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => void child.kill() };
}

interface Measured {
  readonly perSecond: number;
  readonly failed: number;
  /** µs of the server for one request */
  readonly cpu: number;
}

async function measured(load: Load, pid: number): Promise<Measured> {
  const before = await cpuOf(pid);
  const outcome = await applyLoad(load);
  return { ...outcome, cpu: ((await cpuOf(pid)) - before) / outcome.answered };
}

/** Rounds alternate, so that a machine that slows down slows both. Both are asked the same, by the same generator. */
async function besideBare(
  what: string,
  pid: number,
  url: string,
  suffixes: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Figure[]> {
  const sample = await fetch(url + suffixes[0], { headers });
  const body = await sample.text();
  const bare = await bareServer({ headers: [...sample.headers], body });
  try {
    const ours: Measured[] = [];
    const theirs: Measured[] = [];
    const load = { suffixes, headers, seconds: SECONDS };
    const same = { ...load, url: bare.url + new URL(url).pathname };
    await applyLoad({ ...load, url, seconds: WARM_UP_SECONDS });
    await applyLoad({ ...same, seconds: WARM_UP_SECONDS });
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await measured(same, bare.pid));
      ours.push(await measured({ ...load, url }, pid));
    }
    const failed = ours.reduce((sum, one) => sum + one.failed, 0);
    if (failed > 0) throw new Error(`${failed} requests of ${what} were not answered with 200`);
    const ratio = (of: (one: Measured) => number) =>
      middle(ours.map((one, i) => of(one) / of(theirs[i] ?? one)));
    return [
      { what: `${what}, a second`, value: middle(ours.map((one) => one.perSecond)), unit: '/s' },
      { what: `${what}: of bare`, value: 100 * ratio((one) => one.perSecond), unit: '%' },
      { what: `${what}: CPU for one`, value: middle(ours.map((one) => one.cpu)), unit: 'µs' },
      { what: `${what}: of bare by CPU`, value: 100 / ratio((one) => one.cpu), unit: '%' },
      { what: `${what}: bytes`, value: body.length, unit: '' },
    ];
  } finally {
    bare.stop();
  }
}

export async function fetches(bench: BenchPanel): Promise<Figure[]> {
  const { api, pid } = bench;
  const numbers = Array.from({ length: Math.min(bench.clients, MOST_DIFFERENT) }, (_, n) => n);
  const { token } = await api.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: `fetches ${bench.clients}` },
  });
  await api.get('/panel/api/setting/update', {
    body: { subJsonEnable: true, jsonPath: '/json/', subSingBoxEnable: true, subSingBoxPath: '/sing-box/' },
  });
  const at = (path: string): string => new URL(path, api.ready.subUrl).href;
  return [
    ...(await besideBare('subscription fetch, links', pid, api.ready.subUrl, numbers.map(subIdOf))),
    ...(await besideBare('subscription fetch, JSON', pid, at('/json/'), numbers.map(subIdOf))),
    ...(await besideBare('subscription fetch, sing-box', pid, at('/sing-box/'), numbers.map(subIdOf))),
    ...(await besideBare(
      'clients/get with a token',
      pid,
      `${api.url}/panel/api/clients/get/`,
      numbers.map((n) => `user${n}@bench`),
      { authorization: `Bearer ${token}` },
    )),
  ];
}
