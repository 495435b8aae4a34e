// A user's program in a process of its own: it reads a subscription, and is a SOCKS proxy on loopback. `npm test` says where
// the programs are (bin/test-programs.mjs).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts, connectThrough } from '../../plugins/engine/xray/test/traffic.js';

const START_LIMIT_MS = 30_000;
const KEPT_OUTPUT = 8192;

/** Path of a program; throws with the reason where there is none. */
export function clientProgram(name: 'sing-box' | 'mihomo'): string {
  const missing = process.env['WEIR_TEST_PROGRAMS_MISSING'];
  if (missing) throw new Error(missing);
  const folder = process.env['WEIR_TEST_PROGRAMS'];
  if (!folder)
    throw new Error(`WEIR_TEST_PROGRAMS must name a folder with ${name}; bin/test-programs.mjs finds one`);
  const path = join(folder, name);
  accessSync(path, constants.X_OK);
  return path;
}

/** A config file in a folder of its own, where the program may write. */
export interface ProgramRun {
  readonly command: string;
  /** with the place of the file and of its folder */
  readonly args: (file: string, folder: string) => readonly string[];
  readonly config: string;
  /** what the file is called, such as `config.yaml` */
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it serves; its SOCKS port accepts by then. Without this, accepting is enough. */
  readonly isReady?: () => Promise<boolean>;
}

const ANSWER_LIMIT_MS = 1000;
/** Whether bytes come through a SOCKS proxy that leads to this machine directly: those of a server that is there for this. */
export async function passes(socksPort: number): Promise<boolean> {
  const server = createServer((socket) => void socket.on('error', () => {}).end('.')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const socket = await connectThrough(socksPort, (server.address() as AddressInfo).port);
    const timer = setTimeout(() => socket.destroy(), ANSWER_LIMIT_MS);
    let came = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) came += chunk.length;
    clearTimeout(timer);
    return came > 0;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

async function inFolder<T>(
  { config, name }: ProgramRun,
  work: (file: string, folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-program-'));
  try {
    await writeFile(join(folder, name), config, { mode: 0o600 });
    return await work(join(folder, name), folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function start(run: ProgramRun, file: string, folder: string) {
  const child = spawn(run.command, run.args(file, folder), {
    cwd: folder,
    env: { ...process.env, ...run.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.off('exit', endWithUs));
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on(
      'data',
      (chunk: Buffer) => (output.text = (output.text + chunk.toString()).slice(-KEPT_OUTPUT)),
    );
  return { child, output };
}

/** What a program that only checks its config says against it; empty when it takes it. */
export const objection = (run: ProgramRun): Promise<string> =>
  inFolder(run, async (file, folder) => {
    const { child, output } = start(run, file, folder);
    const [code] = (await once(child, 'close')) as [number | null];
    return code === 0 ? '' : output.text.trim().split('\n').slice(-3).join(' ');
  });

/** Runs a program until `use` has ended; `use` gets it once it is ready. Its last words are part of an error. */
export const whileRunning = <T>(run: ProgramRun, socksPort: number, use: () => Promise<T>): Promise<T> =>
  inFolder(run, async (file, folder) => {
    const { child, output } = start(run, file, folder);
    const ended = once(child, 'close');
    const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
    try {
      await once(child, 'spawn');
      const isReady = async (): Promise<boolean> =>
        (await accepts(socksPort)) && ((await run.isReady?.()) ?? true);
      for (const deadline = Date.now() + START_LIMIT_MS; !(await isReady()); await sleep(20))
        if (!isRunning() || Date.now() > deadline) throw new Error('the program did not start');
      return await use();
    } catch (error) {
      const words = output.text.trim().split('\n').slice(-4).join(' | ');
      throw new Error(`${(error as Error).message}; its last words: ${words}`, { cause: error });
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
  });
