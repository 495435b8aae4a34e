// A machine of the proof: a network namespace, the programs that run in it, and its link.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { searchPath } from '../../plugins/processes/contract.js';
import type { Place } from '../node-soak/places.js';

const run = promisify(execFile);
const env = { ...process.env, PATH: searchPath() };
const KEPT_OUTPUT = 4_000;

/** A program in a machine, which ends with this process. */
export class Program {
  readonly #child: ChildProcess;
  readonly ended: Promise<unknown>;
  #output = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    const endWithUs = (): void => void child.kill('SIGKILL');
    process.once('exit', endWithUs);
    this.ended = once(child, 'exit').then(() => process.off('exit', endWithUs));
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output = (this.#output + chunk).slice(-KEPT_OUTPUT)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
  /** the end of what it has written */
  get output(): string {
    return this.#output;
  }
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.isRunning) this.#child.kill(signal);
    await this.ended;
  }
}

export class Machine {
  readonly name: string;
  readonly place: Place;
  /** of its files */
  readonly folder: string;

  private constructor(name: string, place: Place, folder: string) {
    this.name = name;
    this.place = place;
    this.folder = folder;
  }

  static async make(name: string, place: Place, folder: string): Promise<Machine> {
    await mkdir(join(folder, name), { recursive: true });
    return new Machine(name, place, join(folder, name));
  }

  get host(): string {
    return this.place.host;
  }

  start(command: string, args: readonly string[]): Program {
    const [first = '', ...rest] = [...this.place.within, command, ...args];
    return new Program(spawn(first, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Runs a program to its end; resolves with its standard output. */
  async run(command: string, ...args: readonly string[]): Promise<string> {
    const [first = '', ...rest] = [...this.place.within, command, ...args];
    return (await run(first, rest, { env, maxBuffer: 1 << 24 })).stdout;
  }

  /** Cuts the link, so that packets vanish in both directions, or joins it again. */
  async link(state: 'up' | 'down'): Promise<void> {
    await this.run('ip', 'link', 'set', 'out', state);
  }

  /** Writes a file of this machine, readable by this user alone; resolves with its path. */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    const file = await open(path, 'w', 0o600);
    await file.writeFile(text);
    await file.close();
    return path;
  }
}
