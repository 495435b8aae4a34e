// All sidecars: each change of an inbound or a user goes to the one whose protocol it is.
import type { Clock, PluginContext } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import { type Applied, DONE, type UserRef, type UserServer } from '../engine/contract.js';
import type { Inbound, InboundChange, InboundsApi } from '../inbounds/contract.js';
import type { ProcessesApi } from '../processes/contract.js';
import type { CounterReading, CounterSource, CountingApi } from '../traffic/contract.js';
import { type RunningSidecarsApi, Sidecars, type SidecarStatus } from './contract.js';
import type { Downloads } from './download.js';
import { inTime } from './in-time.js';
import { SidecarRunner, SOURCE } from './sidecar-runner.js';

const CHANGED_MS = 8_000;

interface Needs extends Pick<PluginContext, 'log' | 'contributions' | 'dataDirectory'> {
  readonly clock: Clock;
  readonly processes: ProcessesApi;
  readonly counting: CountingApi;
  readonly inbounds: InboundsApi;
  readonly users: ProgramUsersApi;
  readonly downloads: Downloads;
}

export class Runners implements RunningSidecarsApi, UserServer, CounterSource {
  readonly name = SOURCE;
  readonly #needs: Needs;
  readonly #byProtocol = new Map<string, SidecarRunner>();
  #isClosed = false;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Starts what the sidecars of all plugins need; those that came later are added. */
  async open(mayDownload: boolean): Promise<void> {
    const { contributions, downloads, ...needs } = this.#needs;
    const added: SidecarRunner[] = [];
    for (const entry of contributions(Sidecars)) {
      if (this.#byProtocol.has(entry.value.protocol)) continue;
      const runner = new SidecarRunner(entry, {
        ...needs,
        download: ({ program }) => downloads.get(program),
      });
      this.#byProtocol.set(entry.value.protocol, runner);
      added.push(runner);
    }
    await Promise.all(added.map((runner) => runner.apply(mayDownload)));
  }

  /** Applies plans for which the program must be downloaded first. */
  async fetchMissing(): Promise<void> {
    await Promise.all([...this.#byProtocol.values()].map((runner) => runner.apply()));
  }

  async inboundsChanged(changes: readonly InboundChange[]): Promise<void> {
    const protocols = new Set(changes.flatMap(({ before, after }) => [before?.protocol, after?.protocol]));
    await Promise.all([...protocols].map((protocol) => this.changed(protocol ?? '')));
  }

  async changed(protocol: string): Promise<void> {
    const runner = this.#byProtocol.get(protocol);
    if (!runner || this.#isClosed) return;
    // A start takes longer than an admin should wait; the state says how it goes.
    await inTime(CHANGED_MS, 'applying the plan', () => runner.apply()).catch(() => undefined);
  }

  state(inbound: Inbound): string {
    const runner = this.#byProtocol.get(inbound.protocol);
    return runner ? runner.state(inbound) : `not running: there is no sidecar for ${inbound.protocol}`;
  }

  instances(protocol?: string): readonly SidecarStatus[] {
    const all = [...this.#byProtocol.values()];
    return all
      .filter(({ sidecar }) => protocol === undefined || sidecar.protocol === protocol)
      .flatMap((runner) => runner.describe());
  }

  serves(inboundId: number): boolean {
    return this.#runnerOf(inboundId) !== undefined;
  }

  async reconcileUsers(users: readonly UserRef[]): Promise<Applied> {
    const byRunner = new Map<SidecarRunner, UserRef[]>();
    for (const ref of users) {
      const runner = this.#runnerOf(ref.inboundId);
      const list = runner && byRunner.get(runner);
      if (list) list.push(ref);
      else if (runner) byRunner.set(runner, [ref]);
    }
    const answers = await Promise.all([...byRunner].map(([runner, refs]) => runner.change(refs)));
    return answers.find(({ pending }) => pending) ?? DONE;
  }

  #runnerOf(inboundId: number): SidecarRunner | undefined {
    return this.#byProtocol.get(this.#needs.inbounds.get(inboundId)?.protocol ?? '');
  }

  async read(): Promise<readonly CounterReading[]> {
    const now = Date.now();
    const readings = await Promise.all([...this.#byProtocol.values()].map((runner) => runner.read(now)));
    return readings.flat();
  }

  async retry(): Promise<void> {
    await Promise.all([...this.#byProtocol.values()].map((runner) => runner.retry()));
  }

  /** @param letGo another panel takes the processes at once */
  async close(letGo: boolean): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#byProtocol.values()].map((runner) => runner.close(letGo)));
  }
}
