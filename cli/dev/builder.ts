// How sources become what the panel loads: the compiler that watches, a build script at each change, or nothing at all.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { watchFolder } from './watch-folder.js';

export interface Heard {
  /** `since` is when the change was noticed, as `performance.now()` has it */
  readonly built: (since: number) => void;
  readonly failed: (output: string) => void;
}
export interface Builder {
  start(heard: Heard): void;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** In a group of its own: compilers and npm start further processes. */
const startGroup = (command: string, args: readonly string[], cwd: string): ChildProcess =>
  spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });

async function endGroup(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

const BEGINS = /\b(?:Starting compilation|File change detected)/;
const ENDS = /\bFound (\d+) errors?\. Watching/;

/** `tsc --watch`; it says so when a compilation begins and when it ends. */
export class CompilerBuilder implements Builder {
  readonly #compiler: string;
  readonly #args: readonly string[];
  readonly #folder: string;
  readonly #isAsset: (path: string) => boolean;
  #child: ChildProcess | undefined;
  #close: () => void = () => undefined;
  #stopped = false;

  /** `isAsset` says which files the compiler does not know and the panel may load. */
  constructor(folder: string, compiler: string, args: readonly string[], isAsset: (path: string) => boolean) {
    this.#folder = folder;
    this.#compiler = compiler;
    this.#args = args;
    this.#isAsset = isAsset;
  }

  start({ built, failed }: Heard): void {
    const args = [this.#compiler, ...this.#args, '--watch', '--preserveWatchOutput', '--pretty', 'false'];
    const child = startGroup(process.execPath, args, this.#folder);
    this.#child = child;
    let since = performance.now();
    let output: string[] = [];
    let isGood = false;
    const hear = (line: string): void => {
      const text = stripVTControlCharacters(line);
      const [, errors] = ENDS.exec(text) ?? [];
      if (BEGINS.test(text)) {
        since = performance.now();
        output = [];
        isGood = false;
      } else if (errors === '0') {
        isGood = true;
        built(since);
      } else if (errors !== undefined) failed(output.join('\n'));
      else if (text.trim() !== '') output.push(text);
    };
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface(stream).on('line', hear);
    // While the compiler works, or has errors, its next good build brings the assets along.
    this.#close = watchFolder(this.#folder, this.#isAsset, () => {
      if (isGood) built(performance.now());
    });
    child.on('error', (error) => failed(`the compiler could not be started: ${error.message}`));
    child.on('exit', () => {
      if (!this.#stopped)
        failed(`${output.join('\n')}\nthe compiler ended; stop weir dev and start it again`);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#close();
    await endGroup(this.#child);
  }
}

/** A command at each change of a file; without a command a change is a build. */
export class ScriptBuilder implements Builder {
  readonly #folder: string;
  readonly #command: readonly string[];
  readonly #isSource: (path: string) => boolean;
  #child: ChildProcess | undefined;
  #close: () => void = () => undefined;
  #running = false;
  #again = false;
  #stopped = false;

  constructor(folder: string, command: readonly string[], isSource: (path: string) => boolean) {
    this.#folder = folder;
    this.#command = command;
    this.#isSource = isSource;
  }

  start(heard: Heard): void {
    this.#close = watchFolder(this.#folder, this.#isSource, () => void this.#build(heard));
    void this.#build(heard);
  }

  async #build(heard: Heard): Promise<void> {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    do {
      this.#again = false;
      const since = performance.now();
      const problem = await this.#run();
      if (this.#stopped) return;
      if (problem === undefined) heard.built(since);
      else heard.failed(problem);
    } while (this.#again);
    this.#running = false;
  }

  /** Resolves with what it wrote when it failed. */
  async #run(): Promise<string | undefined> {
    const [command, ...args] = this.#command;
    if (command === undefined) return undefined;
    const child = startGroup(command, args, this.#folder);
    this.#child = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return new Promise((resolve) => {
      child.on('error', (error) => resolve(`${command} could not be started: ${error.message}`));
      child.on('close', (code) => resolve(code === 0 ? undefined : output.trimEnd()));
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#close();
    await endGroup(this.#child);
  }
}
