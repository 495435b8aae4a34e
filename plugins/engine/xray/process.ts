// One core process, our child or a former panel's: start, notice its end, stop.
import { spawn, type ChildProcess } from 'node:child_process';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreUnreachable } from '../driver.js';
import { identify, isAlive, type ProcessIdentity } from './identity.js';

const LOOK_EVERY_MS = 500;
const LOOK_WHILE_STOPPING_MS = 20;
const GRACE_MS = 5000;

/** Variables that a core may see; the panel's own, secrets among them, stay out, and so does XRAY_LOCATION_CONFDIR, which would add files to the config. */
const PASSED_ON =
  /^(?:PATH|HOME|LANG|TZ|TMPDIR|SSL_CERT_FILE|SSL_CERT_DIR|GOMAXPROCS|GOMEMLIMIT|GOGC|GODEBUG|XRAY_LOCATION_ASSET|XRAY_LOCATION_CERT|XRAY_RAY_BUFFER_SIZE|XRAY_BUF_READV)$/;

/** With splicing on, most downloads are counted only when they end. */
export function coreEnvironment(): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name))),
    XRAY_BUF_SPLICE: 'false',
  };
}

export interface SpawnOptions {
  readonly binary: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** file for stdout and stderr, emptied first */
  readonly output: string;
}

export class CoreInstance {
  readonly identity: ProcessIdentity;
  /** Resolves with how the process ended, as far as it can be known. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess | undefined;
  #settle: (how: string) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  private constructor(identity: ProcessIdentity, child?: ChildProcess) {
    this.identity = identity;
    this.#child = child;
    this.ended = new Promise((resolve) => (this.#settle = resolve));
    child?.once('exit', (code, signal) =>
      this.#settle(signal === null ? `exit code ${code}` : `killed by ${signal}`),
    );
    if (child === undefined) this.#look(LOOK_EVERY_MS);
  }

  /** Starts a process in a session of its own that outlives us. Rejects with CoreUnreachable when the program cannot be run. */
  static async spawn({ binary, args, directory, output }: SpawnOptions): Promise<CoreInstance> {
    await (await open(output, 'w', 0o600)).close();
    const file = await open(output, 'a');
    try {
      const child = spawn(binary, args, {
        cwd: directory,
        env: coreEnvironment(),
        detached: true,
        stdio: ['ignore', file.fd, file.fd],
      });
      // in this same turn a child that has ended already cannot have been waited for, so /proc still knows it
      const identity = child.pid === undefined ? undefined : identify(child.pid);
      if (identity === undefined)
        throw await new Promise((resolve) =>
          child.once('error', (cause) =>
            resolve(new CoreUnreachable(`cannot run ${binary}: ${cause.message}`, { cause })),
          ),
        );
      child.unref();
      return new CoreInstance(identity, child);
    } finally {
      await file.close();
    }
  }

  /** Takes over a running process that is not our child. */
  static watch(identity: ProcessIdentity): CoreInstance {
    return new CoreInstance(identity);
  }

  get alive(): boolean {
    return isAlive(this.identity);
  }

  /** SIGTERM, after five seconds SIGKILL; resolves when the process is gone. */
  async stop(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#signalled(signal)) return;
    }
    throw new CoreUnreachable(`process ${this.identity.pid} does not end, not even by SIGKILL`);
  }

  async kill(): Promise<void> {
    if (!(await this.#signalled('SIGKILL')))
      throw new CoreUnreachable(`process ${this.identity.pid} does not end, not even by SIGKILL`);
  }

  /** Leaves the process running and stops watching it; `ended` stays open. */
  release(): void {
    clearTimeout(this.#timer);
    this.#settle = () => {};
    this.#child?.removeAllListeners('exit');
  }

  async #signalled(signal: NodeJS.Signals): Promise<boolean> {
    // the identity is asked again, or the signal might hit another program with that pid
    if (this.alive) {
      try {
        process.kill(this.identity.pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    const deadline = Date.now() + GRACE_MS;
    while (this.alive && Date.now() < deadline) await sleep(LOOK_WHILE_STOPPING_MS);
    if (this.alive) return false;
    if (this.#child === undefined) {
      clearTimeout(this.#timer);
      this.#settle(`ended by ${signal}`);
    }
    return true;
  }

  #look(after: number): void {
    this.#timer = setTimeout(() => (this.alive ? this.#look(after) : this.#settle('gone')), after);
    this.#timer.unref();
  }
}
