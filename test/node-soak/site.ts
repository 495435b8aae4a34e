// One panel of a soak: a process that is killed and started again, on the same data and address.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../harness/api.js';
import type { LogLine } from '../harness/logged-panel.js';
import { PanelProcess } from '../harness/panel-process.js';
import type { Place } from './places.js';

export class Site {
  readonly name: string;
  readonly place: Place;
  readonly port: number;
  readonly #binary: string;
  readonly #dataDirectory: string;
  #panel: PanelProcess | undefined;
  /** of panels that were killed */
  readonly #logs: LogLine[] = [];
  kills = 0;

  private constructor(name: string, place: Place, port: number, binary: string, folder: string) {
    this.name = name;
    this.place = place;
    this.port = port;
    this.#binary = binary;
    this.#dataDirectory = folder;
  }

  static async start(name: string, place: Place, binary: string): Promise<Site> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const site = new Site(name, place, await freePort(), binary, folder);
    await site.#start();
    return site;
  }

  async #start(): Promise<void> {
    const { host, within } = this.place;
    this.#panel = await PanelProcess.start({
      dataDirectory: this.#dataDirectory,
      within,
      env: {
        WEIR_ENGINE_BIN: this.#binary,
        WEIR_HOST: host,
        WEIR_SUB_HOST: host,
        WEIR_PANEL_PORT: String(this.port),
        WEIR_LOG_LEVEL: 'info',
      },
    });
  }

  /** Throws while it is down. */
  get panel(): PanelProcess {
    if (!this.#panel || this.#panel.end) throw new Error(`${this.name} is down`);
    return this.#panel;
  }
  get dataDirectory(): string {
    return this.#dataDirectory;
  }

  /** `kill -9`, and a start after `downMs`. The core serves on. */
  async kill(wait: () => Promise<unknown>): Promise<void> {
    const panel = this.panel;
    await panel.kill('SIGKILL');
    this.#logs.push(...panel.log);
    this.kills += 1;
    await wait();
    await this.#start();
  }

  /** Ends the panel in good order; its core ends with it. */
  async stop(): Promise<void> {
    await this.panel.kill('SIGTERM');
  }

  /** Faults and errors of all its processes. */
  get faults(): string[] {
    return [...this.#logs, ...(this.#panel?.log ?? [])].flatMap((line) =>
      line.level === 'error' || line.msg === 'plugin fault' ? [`${this.name}: ${JSON.stringify(line)}`] : [],
    );
  }

  async dispose(): Promise<void> {
    await this.#panel?.dispose();
  }
}
