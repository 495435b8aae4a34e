// All sidecars: each change of an inbound or a user goes to the one whose protocol it is.
import { AsyncResource } from 'node:async_hooks';
import { type Clock, messageOf, type PluginContext } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import type { PanelsApi } from '../cluster/contract.js';
import { type Applied, DONE, type UserRef, type UserServer } from '../engine/contract.js';
import type { Inbound, InboundChange, LocalInboundsApi } from '../inbounds/contract.js';
import type { ProcessesApi } from '../processes/contract.js';
import type { CounterReading, CounterSource, CountingApi } from '../traffic/contract.js';
import { type RunningSidecarsApi, Sidecars, type SidecarStatus } from './contract.js';
import type { Downloads } from './download.js';
import { inTime } from './in-time.js';
import type { Compared } from './invariants.js';
import { Leftovers } from './leftovers.js';
import { SOURCE } from './settling.js';
import { SidecarRunner } from './sidecar-runner.js';

const CHANGED_MS = 8_000;

interface Needs extends Pick<PluginContext, 'log' | 'contributions' | 'dataDirectory'> {
  readonly clock: Clock;
  readonly processes: ProcessesApi;
  readonly counting: CountingApi;
  readonly inbounds: LocalInboundsApi;
  readonly users: ProgramUsersApi;
  readonly downloads: Downloads;
  readonly panels?: Pick<PanelsApi, 'leads'> | undefined;
}

export class Runners implements RunningSidecarsApi, UserServer, CounterSource {
  readonly name = SOURCE;
  readonly #needs: Needs;
  readonly #byProtocol = new Map<string, SidecarRunner>();
  /** plans on the way that nobody has asked for yet */
  readonly #applying = new Set<Promise<Applied>>();
  /** What follows a change of an inbound is no part of its write. */
  readonly #context = new AsyncResource('Sidecars');
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
    const leftovers = new Leftovers(this.#needs);
    await Promise.all(
      added.map(async (runner) => {
        await runner.apply(mayDownload);
        await runner.countLeft(leftovers);
      }),
    );
  }

  /** Removes what programs of previous panels left: of inbounds, and of plugins, that are no longer there. Call it when all plugins have started. */
  async removeLeft(): Promise<void> {
    const leftovers = new Leftovers(this.#needs);
    for (const protocol of await leftovers.protocols()) {
      const runner = this.#byProtocol.get(protocol);
      if (runner) await runner.removeLeft(leftovers);
      else await leftovers.remove(protocol, () => false);
    }
  }

  /** Applies plans for which the program must be downloaded first. */
  async fetchMissing(): Promise<void> {
    await Promise.all([...this.#byProtocol.values()].map((runner) => runner.apply()));
  }

  /** Begins to apply the plans of these protocols. An after hook must not wait for it: a stop writes last bytes. */
  inboundsChanged(changes: readonly InboundChange[]): void {
    const protocols = new Set(changes.flatMap(({ before, after }) => [before?.protocol, after?.protocol]));
    this.#context.runInAsyncScope(() => {
      for (const protocol of protocols) if (protocol) this.#applying.add(this.#apply(protocol));
    });
  }

  /** Resolves when the plans are applied that were begun before. */
  async reconcileInbounds(): Promise<Applied> {
    const applying = [...this.#applying];
    this.#applying.clear();
    const answers = await Promise.all(applying);
    return answers.find(({ pending }) => pending) ?? DONE;
  }

  async changed(protocol: string): Promise<void> {
    await this.#apply(protocol);
  }

  async #apply(protocol: string): Promise<Applied> {
    const runner = this.#byProtocol.get(protocol);
    if (!runner || this.#isClosed) return DONE;
    try {
      await inTime(CHANGED_MS, 'a program that runs inbounds', () => runner.apply());
      const reason = runner.heldBack;
      return { pending: reason !== '', reason };
    } catch (error) {
      // The plan goes on, and the state of the inbounds says how.
      return { pending: true, reason: messageOf(error) };
    }
  }

  state(inbound: Inbound): string {
    const runner = this.#byProtocol.get(inbound.protocol);
    if (runner) return runner.state(inbound);
    return this.#needs.panels?.leads === false
      ? 'not running: the panel that leads runs this program, on its machine alone'
      : `not running: there is no sidecar for ${inbound.protocol}`;
  }

  instances(protocol?: string): readonly SidecarStatus[] {
    const all = [...this.#byProtocol.values()];
    return all
      .filter(({ sidecar }) => protocol === undefined || sidecar.protocol === protocol)
      .flatMap((runner) => runner.describe());
  }

  /** The processes themselves, for comparisons. */
  compared(): readonly Compared[] {
    return [...this.#byProtocol.values()].flatMap(({ instances }) => instances);
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
