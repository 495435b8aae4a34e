// One of the panels of the proof: a process that is killed and started again with the same data and name.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { corePidIn } from '../harness/core-pid.js';
import type { LogLine } from '../harness/logged-panel.js';
import { PanelProcess } from '../harness/panel-process.js';
import { writeFiles } from '../outside/third-party.js';
import type { Machine } from './machine.js';

export const PANEL_PORT = 2053;
export const SUB_PORT = 2096;
const KEY = 'kQm5l0m8mJ0n0J7h3g1mYb7c6q0m5l0m8mJ0n0J7h3g=';
const ENTRY = fileURLToPath(new URL('../../plugins/cluster/test/panel-entry.js', import.meta.url));
const LEADS = 'this panel leads: it runs the jobs and the core';
/** Of a log; the rest is of no use to anybody, and 30 minutes are long. */
const KEPT_LINES = 20_000;
const START_ATTEMPTS = 30;

export interface PanelOptions {
  readonly machine: Machine;
  readonly databaseUrl: string;
  /** of the core */
  readonly binary: string;
  /** of its data, on the machine */
  readonly folder?: string;
  /** references of third-party plugins */
  readonly plugins: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class ClusterPanel {
  readonly options: PanelOptions;
  #panel: PanelProcess | undefined;
  /** of processes that have ended */
  readonly #logs: LogLine[] = [];

  constructor(options: PanelOptions) {
    this.options = options;
  }

  get name(): string {
    return this.options.machine.name;
  }
  get machine(): Machine {
    return this.options.machine;
  }
  get dataDirectory(): string {
    return join(this.machine.folder, this.options.folder ?? 'data');
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const { machine, databaseUrl, binary, plugins } = this.options;
    this.#keepLog();
    await writeFiles(this.dataDirectory, {
      'weir.json': { plugins: Object.fromEntries(plugins.map((reference) => [reference, true])) },
    });
    this.#panel = await PanelProcess.start({
      dataDirectory: this.dataDirectory,
      within: machine.place.within,
      entry: ENTRY,
      anonymous: true,
      env: {
        WEIR_ENGINE_BIN: binary,
        WEIR_HOST: machine.host,
        WEIR_PANEL_PORT: String(PANEL_PORT),
        WEIR_SUB_HOST: machine.host,
        WEIR_SUB_PORT: String(SUB_PORT),
        WEIR_DATABASE_URL: databaseUrl,
        WEIR_CLUSTER: machine.name,
        WEIR_SECRET_KEY: KEY,
        WEIR_LOG_LEVEL: 'info',
        ...this.options.env,
        ...env,
      },
    });
  }

  /** Starts it again until it runs, as a service manager does. */
  async keepStarting(
    note: (text: string) => void,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.start(env);
      } catch (error) {
        if (attempt === START_ATTEMPTS) throw error;
        note(`${this.name} did not start: ${String(error).slice(0, 500)}`);
        await sleep(1_000);
      }
  }

  #keepLog(): void {
    this.#logs.push(...(this.#panel?.log ?? []));
    this.#logs.splice(0, this.#logs.length - KEPT_LINES);
  }

  /** Throws while it is down. */
  get panel(): PanelProcess {
    if (!this.#panel || this.#panel.end) throw new Error(`${this.name} is down`);
    return this.#panel;
  }
  get isUp(): boolean {
    return this.#panel !== undefined && this.#panel.end === undefined;
  }

  /** Whether it leads, by its own word; the last start of its kernel counts. */
  get leads(): boolean {
    if (!this.isUp) return false;
    const { log } = this.panel;
    const [led, began] = [LEADS, 'stopping'].map((message) =>
      log.findLastIndex(({ msg }) => msg === message),
    );
    return (led ?? -1) > (began ?? -1);
  }

  corePid(): Promise<number | undefined> {
    return corePidIn(this.dataDirectory);
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    await this.#panel?.kill(signal);
  }
  signal(signal: NodeJS.Signals): void {
    this.panel.signal(signal);
  }

  get log(): readonly LogLine[] {
    return [...this.#logs, ...(this.#panel?.log ?? [])];
  }

  async dispose(): Promise<void> {
    if (this.isUp) this.signal('SIGCONT');
    await this.kill('SIGKILL');
    const core = await this.corePid();
    if (core !== undefined) process.kill(core, 'SIGKILL');
  }
}
