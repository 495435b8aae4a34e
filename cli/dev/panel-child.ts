// The panel of `weir dev`: one child process for each state of the code.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../panel/variables.js';

const ENTRY = fileURLToPath(new URL('./panel-entry.js', import.meta.url));
/** The panel itself gives up stopping after 9.5 s. */
const STOP_LIMIT_MS = 12_000;

/** Messages between parent and child. */
export type ToPanel = 'load' | 'open' | 'leave';
export type FromPanel = 'loaded' | 'ready';

export class PanelChild {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  /** false when the child exited before */
  readonly loaded: Promise<boolean>;
  /** false when the child exited before */
  readonly ready: Promise<boolean>;

  constructor(env: Environment, ended: (how: string) => void) {
    this.#child = fork(ENTRY, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) =>
      ended(code === null ? String(signal) : `exit code ${String(code)}`),
    );
    const told = (what: FromPanel): Promise<boolean> =>
      new Promise((resolve) => {
        this.#child.on('message', (message) => message === what && resolve(true));
        void this.#ended.then(() => resolve(false));
      });
    this.loaded = told('loaded');
    this.ready = told('ready');
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Makes the child load the current code of the panel. */
  load(): void {
    this.#tell('load');
  }

  /** Boots the panel. */
  open(): void {
    this.#tell('open');
  }

  /** Stops the panel; the core keeps running. */
  async leave(): Promise<void> {
    if (this.isRunning) this.#tell('leave');
    await this.#end();
  }

  /** Stops the panel and the core. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#end();
  }

  #tell(message: ToPanel): void {
    // The exit handler reports it.
    this.#child.send(message, () => undefined);
  }

  async #end(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}
