// One process, our child or a previous panel's: start, notice its end, stop.
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DoesNotEnd, type ProgramCall, type RunningProcess } from './contract.js';
import { identify, isAlive, type ProcessIdentity } from './identity.js';
import { findProgram, whyNotStarted } from './program.js';
import type { Recorded, RecordFile } from './record.js';

const LOOK_EVERY_MS = 500;
const LOOK_WHILE_STOPPING_MS = 20;
export const GRACE_MS = 5000;

/** Node throws some failures of a start at once, and reports others with an event. */
function spawned(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, options);
  } catch (error) {
    throw whyNotStarted(program, error as NodeJS.ErrnoException);
  }
}

export class OneProcess<N extends object> implements RunningProcess<N> {
  readonly ended: Promise<string>;
  readonly #file: RecordFile<N>;
  readonly #child: ChildProcess | undefined;
  #recorded: Recorded<N>;
  #settle: (how: string) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  private constructor(file: RecordFile<N>, recorded: Recorded<N>, child?: ChildProcess) {
    this.#file = file;
    this.#recorded = recorded;
    this.#child = child;
    this.ended = new Promise((resolve) => (this.#settle = resolve));
    child?.once('exit', (code, signal) =>
      this.#settle(signal === null ? `exit code ${code}` : `killed by ${signal}`),
    );
    if (child === undefined) this.#look(LOOK_EVERY_MS);
  }

  /** Starts and records a process; if that fails, no process is left. Rejects with CannotRun if the program cannot run. */
  static async start<N extends object>(
    call: ProgramCall,
    file: RecordFile<N>,
    note: N,
  ): Promise<OneProcess<N>> {
    const program = await findProgram(call.command, call.env['PATH'] ?? '');
    if (call.emptied) await (await open(call.output, 'w', 0o600)).close();
    const output = await open(call.output, 'a', 0o600);
    let running: OneProcess<N>;
    try {
      running = await OneProcess.#spawn(program, call, output.fd, file, note);
    } finally {
      await output.close();
    }
    try {
      await file.save(running.#recorded);
      return running;
    } catch (error) {
      await running.kill();
      throw error;
    }
  }

  static async #spawn<N extends object>(
    program: string,
    { args, env, cwd }: ProgramCall,
    output: number,
    file: RecordFile<N>,
    note: N,
  ): Promise<OneProcess<N>> {
    const child = spawned(program, args, {
      cwd,
      env,
      shell: false,
      // A session of its own: no signal of our terminal reaches it, and it outlives us.
      detached: true,
      stdio: ['ignore', output, output],
    });
    // Synchronously after spawn the child is not reaped yet, so /proc still has it.
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    if (child.pid === undefined) {
      const [cause] = (await once(child, 'error')) as [NodeJS.ErrnoException];
      throw whyNotStarted(program, cause);
    }
    if (identity === undefined) {
      child.kill('SIGKILL');
      throw new Error(`/proc/${child.pid}/stat cannot be read; /proc must be mounted`);
    }
    // A later error means that a signal could not be sent; without a listener it would crash the panel.
    child.on('error', () => undefined);
    child.unref();
    return new OneProcess(file, { identity, startedAt: Date.now(), note }, child);
  }

  /** Adopts a running process that is not our child. */
  static watch<N extends object>(file: RecordFile<N>, recorded: Recorded<N>): OneProcess<N> {
    return new OneProcess(file, recorded);
  }

  get identity(): ProcessIdentity {
    return this.#recorded.identity;
  }
  get startedAt(): number {
    return this.#recorded.startedAt;
  }
  get note(): N {
    return this.#recorded.note;
  }
  get alive(): boolean {
    return isAlive(this.identity);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM', grace = GRACE_MS): Promise<void> {
    if (!(await this.#signalled(signal, grace))) await this.kill();
  }

  async kill(): Promise<void> {
    if (!(await this.#signalled('SIGKILL', GRACE_MS)))
      throw new DoesNotEnd(`process ${this.identity.pid} does not exit, not even after SIGKILL`);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#settle = () => {};
    this.#child?.removeAllListeners('exit');
  }

  async remember(note: N): Promise<void> {
    const recorded = { ...this.#recorded, note };
    await this.#file.save(recorded);
    this.#recorded = recorded;
  }

  forget(): Promise<void> {
    return this.#file.remove();
  }

  async #signalled(signal: NodeJS.Signals, grace: number): Promise<boolean> {
    // the identity is checked again, or the signal might reach another program with this pid
    if (this.alive) {
      try {
        process.kill(this.identity.pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    const deadline = Date.now() + grace;
    while (this.alive && Date.now() < deadline) await sleep(LOOK_WHILE_STOPPING_MS);
    if (this.alive) return false;
    if (this.#child === undefined) {
      clearTimeout(this.#timer);
      this.#settle(`ended by ${signal}`);
    } else {
      // Until we have waited for it, it is a zombie.
      this.#child.ref();
      await this.ended;
    }
    return true;
  }

  #look(after: number): void {
    this.#timer = setTimeout(() => (this.alive ? this.#look(after) : this.#settle('gone')), after);
    this.#timer.unref();
  }
}
