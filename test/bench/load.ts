// Requests as fast as they are answered, over kept-alive connections: with wrk where it is installed, else by a process of our own.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Load {
  readonly url: string;
  /** appended to the path of `url`, one at random for each request */
  readonly suffixes: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly seconds: number;
  /** of every answer; another one is a failure */
  readonly status?: number;
}
export interface Outcome {
  readonly perSecond: number;
  readonly answered: number;
  readonly failed: number;
  /** ms from a request to its answer */
  readonly median: number;
  readonly p99: number;
}
export const CONNECTIONS = 32;

const hasWrk = spawnSync('wrk', ['-v']).error === undefined;
export const generator = hasWrk ? 'wrk' : 'a process of our own';

export const applyLoad = (load: Load): Promise<Outcome> => (hasWrk ? withWrk(load) : withChild(load));

async function withWrk({ url, suffixes, headers = {}, seconds }: Load): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'));
  try {
    const list = suffixes.map((suffix) => JSON.stringify(suffix)).join(',');
    const script = `math.randomseed(7)\nlocal suffixes = {${list}}\n${Object.entries(headers)
      .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}\n`)
      .join(
        '',
      )}request = function() return wrk.format("GET", wrk.path .. suffixes[math.random(#suffixes)]) end\n`;
    await writeFile(join(folder, 'requests.lua'), script);
    const { spawn } = await import('node:child_process');
    const wrk = spawn(
      'wrk',
      ['-t1', '--latency', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', join(folder, 'requests.lua'), url],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let output = '';
    wrk.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(wrk, 'close');
    const figure = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0);
    const ms = (percentile: string) => {
      const [, value, unit] = new RegExp(`${percentile}%\\s+([\\d.]+)(us|ms|s)\\b`).exec(output) ?? [];
      return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit ?? ''] ?? Number.NaN);
    };
    return {
      median: ms('50'),
      p99: ms('99'),
      perSecond: figure(/Requests\/sec:\s+([\d.]+)/),
      answered: figure(/(\d+) requests in/),
      failed: figure(/Non-2xx[^\d]*(\d+)/),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function withChild(load: Load): Promise<Outcome> {
  const child = fork(fileURLToPath(new URL('./load-process.js', import.meta.url)));
  child.send(load);
  const [outcome] = (await once(child, 'message')) as [Outcome];
  child.kill();
  return outcome;
}
