// Builds the sources at each change with a command, where the panel needs one.
// Not `tsc --watch`: the native compiler misses changes on some file systems, and one run costs less than a second.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watchFolder } from './watch-folder.js';

export interface BuildEvents {
  /** a change was noticed; a build follows */
  readonly begun: () => void;
  /** `since` is when the change was noticed, as `performance.now()` has it */
  readonly built: (since: number) => void;
  readonly failed: (output: string) => void;
}
export interface Recipe {
  readonly folder: string;
  /** empty where a change needs no build */
  readonly command: readonly string[];
  /** folders in it that hold sources */
  readonly watched: readonly string[];
  /** which files there are sources */
  readonly isSource: (path: string) => boolean;
}

export class Builder {
  readonly #recipe: Recipe;
  readonly #events: BuildEvents;
  readonly #watches: (() => void)[] = [];
  #child: ChildProcess | undefined;
  #running = false;
  /** when a change was noticed that the build under way may have missed */
  #next: number | undefined;
  #stopped = false;

  constructor(recipe: Recipe, events: BuildEvents) {
    this.#recipe = recipe;
    this.#events = events;
  }

  /** Builds once, then after each change. */
  start(): void {
    const { watched, isSource } = this.#recipe;
    for (const folder of watched)
      this.#watches.push(watchFolder(folder, isSource, (since) => void this.#build(since)));
    void this.#build(performance.now());
  }

  async #build(noticed: number): Promise<void> {
    this.#next ??= noticed;
    if (this.#running) return;
    this.#running = true;
    while (this.#next !== undefined) {
      const since = this.#next;
      this.#next = undefined;
      this.#events.begun();
      const problem = await this.#run();
      if (this.#stopped) return;
      if (problem === undefined) this.#events.built(since);
      else this.#events.failed(problem);
    }
    this.#running = false;
  }

  /** Resolves with the output of a failed build. */
  async #run(): Promise<string | undefined> {
    const { folder: cwd, command } = this.#recipe;
    const [program, ...args] = command;
    if (program === undefined) return undefined;
    // In a group of its own: compilers and npm start further processes.
    const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return new Promise((resolve) => {
      child.on('error', (error) => resolve(`${program} could not be started: ${error.message}`));
      child.on('close', (code) => resolve(code === 0 ? undefined : output.trimEnd()));
    });
  }

  /** Resolves when no process of a build runs any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const close of this.#watches) close();
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  }
}
