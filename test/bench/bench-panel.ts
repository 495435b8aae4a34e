// A panel in a process of its own with a real core and five inbounds, every client on all of them.
import { fileURLToPath } from 'node:url';
import { freePort, type PanelApi } from '../harness/api.js';
import type { LogLine } from '../harness/logged-panel.js';
import { PanelProcess } from '../harness/panel-process.js';
import { COLLECTED, FIGURES, type Figures } from './figures.js';
import { forgetPeak, memoryOf } from './process-figures.js';
import { seed } from './seed.js';
import type { Way } from './vless.js';

const KINDS = [
  ['vless', 'tcp'],
  ['vless', 'ws'],
  ['trojan', 'tcp'],
  ['trojan', 'ws'],
  ['vless', 'tcp'],
] as const;
const entry = fileURLToPath(new URL('./measured-entry.js', import.meta.url));
const ANSWER_LIMIT_MS = 60_000;
const env = { WEIR_LOG_LEVEL: 'info' };

export class BenchPanel {
  readonly inboundIds: number[] = [];
  readonly #ports: number[] = [];
  #panel: PanelProcess;
  #clients = 0;

  private constructor(panel: PanelProcess) {
    this.#panel = panel;
  }

  static async start(): Promise<BenchPanel> {
    const bench = new BenchPanel(await PanelProcess.start({ entry, env }));
    try {
      for (const [protocol, network] of KINDS) {
        const port = await freePort();
        bench.#ports.push(port);
        bench.inboundIds.push(
          await bench.api.addInbound({
            protocol,
            port,
            remark: `${protocol}-${network}`,
            streamSettings: { network, ...(network === 'ws' && { wsSettings: { path: '/ws' } }) },
          }),
        );
      }
      return bench;
    } catch (error) {
      await bench.dispose();
      throw error;
    }
  }

  get api(): PanelApi & { readonly ready: { readonly subUrl: string } } {
    return this.#panel;
  }
  get process(): PanelProcess {
    return this.#panel;
  }
  get pid(): number {
    return this.#panel.pid;
  }
  /** `user0@bench` up to this number */
  get clients(): number {
    return this.#clients;
  }

  /** Resolves with the seconds it took, answers included. */
  async growTo(clients: number): Promise<number> {
    const began = performance.now();
    await seed(this.api, clients - this.#clients, this.inboundIds, this.#clients);
    this.#clients = clients;
    return (performance.now() - began) / 1000;
  }

  /** What the process writes after a signal. */
  async #answer(signal: NodeJS.Signals, message: string): Promise<LogLine> {
    const { log } = this.#panel;
    const from = log.length;
    const find = () => log.slice(from).find(({ msg }) => msg === message);
    this.#panel.signal(signal);
    await this.#panel.until(() => find() !== undefined, message, ANSWER_LIMIT_MS);
    return find() as LogLine;
  }

  /** What the process says of itself since it was last asked. */
  async figures(): Promise<Figures> {
    return (await this.#answer('SIGPWR', FIGURES)) as unknown as Figures;
  }

  /** How the scene's work changes memory, in MiB: `peak` at its highest, `more` than before. */
  async memoryOf(work: () => Promise<unknown>): Promise<{ readonly peak: number; readonly more: number }> {
    await forgetPeak(this.pid);
    const before = await memoryOf(this.pid);
    await work();
    const { peak } = await memoryOf(this.pid);
    return { peak, more: peak - before.now };
  }

  /** The same, beginning with what is alive. */
  async memoryAliveOf(
    work: () => Promise<unknown>,
  ): Promise<{ readonly peak: number; readonly more: number }> {
    await this.#answer('SIGIO', COLLECTED);
    return this.memoryOf(work);
  }

  /** The way of a client through the last inbound that was asked for, or any other of vless over tcp. */
  way(echoPort: number, position = KINDS.length - 1): Way {
    return { inboundPort: this.#ports[position] ?? 0, echoPort };
  }

  async uuidOf(n: number): Promise<string> {
    return (await this.api.get<{ uuid: string }>(`/panel/api/clients/get/user${n}@bench`)).uuid;
  }

  /** Ends the process as an admin would, the core included. Resolves with the ms it took. */
  async stop(): Promise<number> {
    const began = performance.now();
    await this.#panel.kill('SIGTERM');
    return performance.now() - began;
  }

  /** Another process on the same data. */
  async startAgain(): Promise<void> {
    const { dataDirectory } = this.#panel;
    this.#panel = await PanelProcess.start({ dataDirectory, entry, env });
  }

  dispose(): Promise<void> {
    return this.#panel.dispose();
  }
}
