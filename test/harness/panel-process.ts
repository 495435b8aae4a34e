// A whole panel as a child process: for what only a process can show, such as kill -9, exit codes and a core that outlives its panel.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { environmentOf } from './api.js';
import { type LogLine, LoggedPanel } from './logged-panel.js';
import { corePidIn } from './core-pid.js';
import { databaseEnvironment, dropDatabase } from './database.js';
import { nodeFlags } from './node-flags.js';

export interface PanelProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** a folder of a previous panel; else one is made */
  readonly dataDirectory?: string;
  /** do not log in */
  readonly anonymous?: boolean;
  /** where the panel writes instead of two pipes of ours, and what comes out of it as long as somebody reads */
  readonly output?: PanelOutput;
  /** path of the program; else panel-entry.js */
  readonly entry?: string;
  /** a command that becomes the panel, such as `nsenter` into a network of its own */
  readonly within?: readonly string[];
}

export interface PanelOutput {
  /** of this process; the panel gets it as standard output and standard error */
  readonly fd: number;
  readonly lines: Readable;
}

const ENTRY = fileURLToPath(new URL('./panel-entry.js', import.meta.url));
const READY_LIMIT_MS = 120_000;

export class PanelProcess extends LoggedPanel {
  readonly dataDirectory: string;
  /** how the process ended, once it has */
  end: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #words = '';

  private constructor(dataDirectory: string, child: ChildProcess, lines: Readable | null = child.stdout) {
    super();
    this.dataDirectory = dataDirectory;
    this.#child = child;
    if (lines) createInterface(lines).on('line', (line) => this.#heard(line));
    child.stderr?.on('data', (chunk: Buffer) => (this.#words += chunk.toString()));
    // `close` and not `exit`: only then all of the log has been read.
    this.#ended = once(child, 'close').then(
      ([code, signal]) =>
        (this.end = { code: code as number | null, signal: signal as NodeJS.Signals | null }),
    );
  }

  #heard(line: string): void {
    try {
      this.log.push(JSON.parse(line) as LogLine);
    } catch {
      this.#words += `${line}\n`;
    }
  }

  /** Resolves when the panel says that it is ready, logged in. */
  static async start({
    env = {},
    dataDirectory,
    anonymous = false,
    output,
    entry = ENTRY,
    within = [],
  }: PanelProcessOptions = {}): Promise<PanelProcess> {
    const folder = dataDirectory ?? (await mkdtemp(join(tmpdir(), 'weir-test-')));
    const database = await databaseEnvironment(folder);
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !name.startsWith('WEIR_') || name.startsWith('WEIR_ENGINE_'),
      ),
    );
    const [command = process.execPath, ...args] = [...within, process.execPath, ...nodeFlags, entry];
    const child = spawn(command, args, {
      stdio: ['pipe', output?.fd ?? 'pipe', output?.fd ?? 'pipe'],
      // As the unit and `npm start` have it (install/weir.service).
      env: {
        ...inherited,
        MALLOC_ARENA_MAX: '2',
        ...environmentOf(folder),
        ...database,
        WEIR_ENGINE_PRIVATE: 'allow',
        ...env,
      },
    });
    const panel = new PanelProcess(folder, child, output?.lines);
    try {
      await panel.until(
        () => panel.said('ready') !== undefined || panel.end !== undefined,
        'the panel says that it is ready',
        READY_LIMIT_MS,
      );
      if (panel.end)
        throw new Error(
          `the panel ended before it was ready (${JSON.stringify(panel.end)}): ${JSON.stringify(panel.log.at(-1))} ${panel.#words}`,
        );
      if (!anonymous) await panel.login();
      return panel;
    } catch (error) {
      if (dataDirectory === undefined) await panel.dispose();
      else await panel.kill('SIGKILL');
      throw error;
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }
  /** What was written beside the log, to the standard error included. */
  override get words(): string {
    return this.#words;
  }

  /** Sends a signal that the panel lives through. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a signal and waits for the end of the process, unless it has ended already. */
  async kill(
    signal: NodeJS.Signals,
  ): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
    this.#child.kill(signal);
    await this.#ended;
    return this.end ?? { code: null, signal: null };
  }

  /** Process id of the core that runs for this data folder, whoever started it; undefined when none does. */
  corePid(): Promise<number | undefined> {
    return corePidIn(this.dataDirectory);
  }

  /** Ends the panel and its core by force, and removes their folder. */
  async dispose(): Promise<void> {
    await this.kill('SIGKILL');
    const core = await this.corePid();
    if (core !== undefined) process.kill(core, 'SIGKILL');
    await dropDatabase(this.dataDirectory);
    await rm(this.dataDirectory, { recursive: true, force: true });
  }
}
