// What these tests share: a data folder whose processes go with the test, and programs of a line.
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Hooks, Log } from '../../../kernel/index.js';
import type { ManagedProcess, ProcessOptions, ProcessState } from '../contract.js';
import { ProcessTable } from '../processes.js';

export { until } from '../../../test/harness/until.js';

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function logTo(lines: Line[]): Log {
  const at = (level: string) => (message: string, data?: object) =>
    void lines.push({ level, message, data: { ...data } });
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  };
  return log;
}

/** Processes of this machine that were started for a folder below this one, ended ones left out. */
export async function processesBelow(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const working = await realpath(`/proc/${pid}/cwd`).catch(() => '');
      return working.startsWith(`${folder}/`) ? [pid] : [];
    }),
  );
  return found.flat();
}

export async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'weir-test-')));
  t.teardown(async () => {
    for (const pid of await processesBelow(folder)) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

/** A panel's processes without a panel. */
export class World {
  readonly data: string;
  readonly lines: Line[] = [];
  readonly events: Readonly<Record<string, unknown>>[] = [];
  readonly table: ProcessTable;

  constructor(data: string, open = true) {
    this.data = data;
    const hooks = { emit: (_: unknown, payload: object) => void this.events.push({ ...payload }) };
    this.table = new ProcessTable({
      hooks: hooks as unknown as Hooks,
      log: logTo(this.lines),
      dataDirectory: data,
    });
    if (open) this.table.open();
  }

  static async open(t: ExecutionContext): Promise<World> {
    return new World(await folderOf(t));
  }

  manage(options: Partial<ProcessOptions> = {}, plugin = 'acme'): ManagedProcess {
    return this.table.manage(
      { name: plugin, log: logTo(this.lines) },
      { name: 'one', ...sleeper, ...options },
    );
  }

  output(name = 'one'): Promise<string> {
    return readFile(join(this.data, 'processes', 'acme', name, 'output.log'), 'utf8').catch(() => '');
  }
}

/** A program of one line for Node. */
export const script = (text: string) => ({ command: process.execPath, args: ['-e', text] });
export const sleeper = script('setInterval(() => {}, 1000)');

export function pidOf(state: ProcessState): number {
  if (state.name !== 'running') throw new Error(`it does not run: ${JSON.stringify(state)}`);
  return state.pid;
}

/** Whether there is a process with this id, a zombie included. */
export const isThere = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`).then(
    () => true,
    () => false,
  );
