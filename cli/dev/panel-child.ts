// The panel of `weir dev`: a process for each state of the code.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../panel/variables.js';

const ENTRY = fileURLToPath(new URL('./panel-entry.js', import.meta.url));
/** The panel itself gives up stopping after 9.5 s. */
const STOP_LIMIT_MS = 12_000;

/** What parent and child tell each other. */
export type ToPanel = 'load' | 'open' | 'leave';
export type FromPanel = 'loaded' | 'ready';

export class PanelChild {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  /** false when it ended before */
  readonly loaded: Promise<boolean>;
  /** false when it ended before */
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

  /** Lets it load the code of the panel, as it is now. */
  load(): void {
    this.#tell('load');
  }

  /** Boots it. */
  open(): void {
    this.#tell('open');
  }

  /** Ends it; the core keeps running. */
  async leave(): Promise<void> {
    if (this.isRunning) this.#tell('leave');
    await this.#end();
  }

  /** Ends it, and the core with it. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#end();
  }

  #tell(message: ToPanel): void {
    // Its end is heard of elsewhere.
    this.#child.send(message, () => undefined);
  }

  async #end(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}
