// Requests to the panel beside those to a bare server that answers the same bytes, in the same run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BareAnswer } from './bare-server.js';
import { middle } from './figures.js';
import { applyLoad, type Load, type Outcome } from './load.js';
import { cpuOf } from './process-figures.js';
import { atLeast, atMost, type Figure } from './report.js';

const ROUNDS = 4;
const SECONDS = 2;
const WARM_UP_SECONDS = 1;
/** The 99th percentile, in medians. */
const P99 = 5;

async function bareServer(answer: BareAnswer) {
  const child = fork(fileURLToPath(new URL('./bare-server.js', import.meta.url)));
  child.send(answer);
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => void child.kill() };
}

interface Measured extends Outcome {
  /** µs of the server for one request */
  readonly cpu: number;
}
async function measured(load: Load, pid: number): Promise<Measured> {
  const before = await cpuOf(pid);
  const outcome = await applyLoad(load);
  return { ...outcome, cpu: ((await cpuOf(pid)) - before) / outcome.answered };
}

export interface Asked {
  readonly what: string;
  /** of the panel's process */
  readonly pid: number;
  readonly url: string;
  /** appended to the URL, one at random for each request */
  readonly suffixes: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** of bare by CPU, in % */
  readonly goal?: number;
  /** Goes on while the panel is asked; resolves when it is told to stop. */
  readonly meanwhile?: (isOver: () => boolean) => Promise<unknown>;
}

/** Rounds alternate, so that a machine that slows down slows both. Both are asked the same, by the same generator. */
export async function besideBare(asked: Asked): Promise<Figure[]> {
  const { what, pid, url, suffixes, headers = {}, goal, meanwhile } = asked;
  const sample = await fetch(url + suffixes[0], { headers });
  const { status } = sample;
  const body = await sample.text();
  const bare = await bareServer({ status, headers: [...sample.headers], body });
  try {
    const ours: Measured[] = [];
    const theirs: Measured[] = [];
    const load = { suffixes, headers, seconds: SECONDS, status };
    const same = { ...load, url: bare.url + new URL(url).pathname };
    await applyLoad({ ...load, url, seconds: WARM_UP_SECONDS });
    await applyLoad({ ...same, seconds: WARM_UP_SECONDS });
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await measured(same, bare.pid));
      let isOver = false;
      const other = meanwhile?.(() => isOver);
      ours.push(await measured({ ...load, url }, pid));
      isOver = true;
      await other;
    }
    const failed = [...ours, ...theirs].reduce((sum, one) => sum + one.failed, 0);
    if (failed > 0) throw new Error(`${failed} requests of ${what} were not answered with ${status}`);
    const ratio = (of: (one: Measured) => number) =>
      middle(ours.map((one, i) => of(one) / of(theirs[i] ?? one)));
    const tail = (all: readonly Measured[]) => middle(all.map(({ p99, median }) => p99 / median));
    return [
      { what: `${what}, a second`, value: middle(ours.map((one) => one.perSecond)), unit: '/s' },
      { what: `${what}: of bare`, value: 100 * ratio((one) => one.perSecond), unit: '%' },
      { what: `${what}: CPU for one`, value: middle(ours.map((one) => one.cpu)), unit: 'µs' },
      {
        what: `${what}: of bare by CPU`,
        value: 100 / ratio((one) => one.cpu),
        unit: '%',
        ...(goal !== undefined && { goal: atLeast(goal, '%') }),
      },
      { what: `${what}: p99 in medians`, value: tail(ours), unit: '×', goal: atMost(P99, '×') },
      { what: `${what}: that of bare`, value: tail(theirs), unit: '×' },
      { what: `${what}: bytes`, value: Buffer.byteLength(body), unit: '' },
    ];
  } finally {
    bare.stop();
  }
}
