// `weir dev` as a process, at work on a plugin in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { environmentOf, PanelApi, type Told } from '../harness/api.js';
import { sourceRoot } from '../harness/source-root.js';
import { until } from '../harness/until.js';
import { folderOf } from '../outside/third-party.js';

const ENTRY = fileURLToPath(new URL('../harness/weir-entry.js', import.meta.url));

/** A copy of examples/hello, as its author has it after `npm install`, in a folder of its own within another. */
export async function helloOf(t: ExecutionContext): Promise<string> {
  const root = fileURLToPath(await sourceRoot());
  const folder = join(await folderOf(t), 'hello');
  await cp(join(root, 'examples', 'hello'), folder, { recursive: true });
  await mkdir(join(folder, 'node_modules', '@weir-panel'), { recursive: true });
  await symlink(root, join(folder, 'node_modules', '@weir-panel', 'weir'));
  await symlink(join(root, 'node_modules', '@types'), join(folder, 'node_modules', '@types'));
  return folder;
}

export class DevSession extends PanelApi {
  /** what it wrote, without the log of the panels */
  readonly said: string[] = [];
  readonly log: Told[] = [];
  readonly data: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** `entry` is the command line of another checkout, which works at itself. */
  constructor(t: ExecutionContext, folder: string, entry?: string) {
    super();
    this.data = join(folder, '..', 'data');
    const argv = entry === undefined ? [ENTRY, 'dev', folder] : [entry, 'dev'];
    this.#child = spawn(process.execPath, [...argv, '--data', this.data], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environmentOf('/nowhere/in/service'), WEIR_LOG_LEVEL: '' },
    });
    this.#ended = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream)
        createInterface(stream).on('line', (line) => {
          if (line.startsWith('{')) this.log.push(JSON.parse(line) as Told);
          else this.said.push(line);
        });
    // In order, so that it takes its children along.
    t.teardown(() => this.end());
  }

  override get url(): string {
    return String(this.log.findLast(({ msg }) => msg === 'ready')?.['panelUrl']).replace(/\/$/, '');
  }
  protected override told(): readonly Told[] {
    return this.log;
  }

  /** Waits until it has said this `times` times, and logs in where a panel was started. */
  async hears(text: RegExp, times = 1): Promise<void> {
    await until(
      () => this.said.filter((line) => text.test(line)).length >= times,
      `weir dev says ${String(text)} ${times} times`,
    ).catch((error: Error) => {
      throw new Error(
        `${error.message}; it said:\n${this.said.join('\n')}\n${JSON.stringify(this.log.slice(-4))}`,
      );
    });
  }

  /** Pid of the core, once for each panel that started or adopted it. */
  corePids(): readonly unknown[] {
    return this.log
      .filter(({ msg }) => msg === 'core started' || msg === 'adopted a running core')
      .map(({ pid }) => pid);
  }

  /** Ends it as Ctrl-C does; resolves with its exit code. */
  async end(): Promise<number | null> {
    this.#child.kill('SIGINT');
    await this.#ended;
    return this.#child.exitCode;
  }
}

/** Rewrites a file, or makes it. */
export async function edit(folder: string, file: string, change: (text: string) => string): Promise<void> {
  const path = join(folder, file);
  await writeFile(path, change(await readFile(path, 'utf8').catch(() => '')));
}

/** Processes that have this word among their arguments or their environment. */
export async function processesAt(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const texts = await Promise.all(
        ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      );
      const cwd = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return texts.some((text) => text.includes(folder)) ? [`${cwd.slice(0, 40)} ${texts[0]}`] : [];
    }),
  );
  return found.flat();
}
