// Supervises the core: adopts or starts it, keeps it running, changes it while it runs, stops it with its last bytes counted.
import { messageOf, SerialQueue, type PluginContext } from '../../../kernel/index.js';
import { BackOff, type LogLimits } from '../../processes/contract.js';
import {
  type Applied,
  type CoreChange,
  type CoreCounters,
  type CorePart,
  type CorePreview,
  DONE,
  type EngineApi,
  type UserRef,
} from '../contract.js';
import { type SwappableCore, swapCore } from './core-swap.js';
import { countersOf } from '../logs/counters.js';
import {
  type CoreDriver,
  type CoreInbound,
  type CoreProcess,
  CoreRefused,
  type CoreUser,
} from '../driver.js';
import { gracefulStop } from './graceful-stop.js';
import { testInbound } from '../config/inbound-test.js';
import { type ConfigNeeds, RunningConfig } from '../apply/running-config.js';
import { CoreState } from './state.js';
import { AllUserServers } from '../users/user-servers.js';

interface Needs extends ConfigNeeds, Pick<PluginContext, 'clock'> {
  db: Pick<PluginContext['db'], 'refuseInsideWrite'>;
}

export class Supervisor implements EngineApi {
  readonly #needs: Pick<Needs, 'db' | 'hooks' | 'log' | 'clock' | 'accounts'>;
  readonly #config: RunningConfig;
  readonly #servers: AllUserServers;
  /** Starts, stops and config changes, one after another. */
  readonly #queue = new SerialQueue();
  #driver: CoreDriver | undefined;
  #process: CoreProcess | undefined;
  readonly #state: CoreState;
  #version = '';
  /** for comparisons with the core, while `reader` is there */
  readonly parts = () => ({
    driver: this.#driver,
    users: this.#config.users,
    inbounds: this.#config.inbounds,
    applied: this.#config.applied,
    plan: () => this.#config.composition.plan(),
  });
  /** for those who watch the core; `process` is undefined while none runs */
  readonly watched = () => ({
    state: this.#state,
    process: this.#process,
    monitor: this.#driver?.monitor,
    routes: this.#driver?.routes,
  });
  readonly #retry = new BackOff(() => void this.#queue.run(() => this.#restartIfWanted()));
  #wanted = false;

  constructor(needs: Needs) {
    const { db, hooks, log, clock, accounts } = needs;
    this.#needs = { db, hooks, log, clock, accounts };
    this.#servers = new AllUserServers(needs);
    this.#state = new CoreState({ hooks, log, clock });
    this.#config = new RunningConfig(needs, {
      state: this.#state,
      driver: () => (this.hasCore ? this.#driver : undefined),
      reconcile: (begin) => this.#reconcile(begin),
      restart: async (reason) => {
        if (!this.#driver) return;
        await this.#gracefulStop(this.#driver, reason);
        await this.#start(this.#driver);
      },
    });
  }

  status(): ReturnType<EngineApi['status']> {
    return {
      state: this.#state.name,
      errorMsg: this.#state.message(() => [...this.#config.reload.refusals, ...this.#config.problems]),
      version: this.#version,
      startedAt: this.#process?.startedAt ?? 0,
      usersOnTheWay: this.#config.changes.onTheWay,
      memory: this.#state.memory,
    };
  }

  /** A program that did not print its version is not a core. */
  get hasCore(): boolean {
    return this.#version !== '';
  }

  /** Adopts a core that a previous panel left running, or starts one. Never rejects: a panel without its core must stay reachable. */
  async open(driver: CoreDriver): Promise<void> {
    this.#driver = driver;
    this.#wanted = true;
    driver.onExit((reason) => this.#onExit(reason));
    await this.#queue.run(() => this.#bringUp(driver));
  }

  async #bringUp(driver: CoreDriver): Promise<void> {
    try {
      this.#version ||= await driver.version();
      const found = await driver.adopt();
      if (!found) return await this.#start(driver);
      this.#needs.log.info('adopted a running core', { pid: found.process.pid });
      this.#config.applied.digests = found.digests;
      this.#markRunning(found.process);
    } catch (error) {
      this.#onFailure(error);
      return;
    }
    await this.#tryPlan(driver, true);
  }

  /** Notes that there is no core, and why. */
  absent(reason: string): void {
    this.#state.enter('stop', reason);
  }

  reconcileConfig(only?: 'elsewhere'): Promise<Applied> {
    this.#needs.db.refuseInsideWrite('reconcileConfig');
    return this.#servers.reconcileInbounds(async () =>
      only === 'elsewhere' ? DONE : this.#reconcile(() => undefined),
    );
  }

  /** @param begin is called when the queue reaches this call, before the plan is made */
  #reconcile(begin: () => void): Promise<Applied> {
    return this.#queue.run(async () => {
      begin();
      if (this.#driver && this.#state.answers) return this.#tryPlan(this.#driver, false);
      this.#config.isBehind = true;
      return this.#state.notNow();
    });
  }

  replaceInbound(inboundId: number): Promise<Applied> {
    this.#config.inbounds.suspect(inboundId);
    return this.reconcileConfig();
  }

  /** Applies the plan; when that fails the core keeps what it runs, and `retryPending` tries again. */
  async #tryPlan(driver: CoreDriver, adopted: boolean): Promise<Applied> {
    return this.#config.apply(driver, adopted).catch((error: unknown) => this.#onFailure(error));
  }

  /** A running core keeps what it runs until the retry; a stopped one is restarted. */
  #onFailure(error: unknown): Applied {
    if (this.#process) return this.#config.failed(error);
    this.#failed(error);
    return this.#state.notNow();
  }

  async reconcileUsers(users: readonly UserRef[]): Promise<Applied> {
    this.#needs.db.refuseInsideWrite('reconcileUsers');
    return this.#servers.reconcile(users, (rest) => this.#config.changes.reconcile(rest));
  }

  async examine(inbound: CoreInbound, sample?: CoreUser): Promise<void> {
    this.#needs.db.refuseInsideWrite('examine');
    this.#needs.accounts.require(sample, inbound.protocol);
    const driver = this.#driver;
    if (!driver || !this.hasCore) return;
    const { composition } = this.#config;
    await testInbound({ driver, composition, log: this.#needs.log }, inbound, sample);
  }

  preview(plugin: string, parts: readonly CorePart[]): Promise<CorePreview> {
    this.#needs.db.refuseInsideWrite('preview');
    return this.#config.preview.of({ plugin, parts });
  }

  /** What of the config the core does not run yet. */
  pending(): Promise<CoreChange> {
    return this.#config.preview.pending();
  }

  /** @param isLast asks also a core that has not answered lately */
  async counters(only?: 'outbounds', isLast = false): Promise<CoreCounters | undefined> {
    this.#needs.db.refuseInsideWrite('counters');
    const process = this.#process;
    if (!this.#driver || !process) return undefined;
    if (!isLast) this.#state.requireAnswers();
    const counters = await countersOf(this.#driver, process.epoch, only);
    // If the core was replaced meanwhile, these figures belong to the previous one.
    return this.#process === process ? counters : undefined;
  }

  /** Retries what failed before; a job calls it. */
  async retryPending(): Promise<void> {
    if (this.#driver && this.#state.answers) await this.#config.retry(this.#driver);
  }

  /** Reads back what the core runs, and fixes what differs; a job calls it. */
  checkDrift(): Promise<void> {
    return this.#queue.run(async () => {
      const driver = this.#driver;
      if (!driver || !this.#state.answers) return;
      await this.#config.checkDrift(driver, () => this.#tryPlan(driver, false));
    });
  }

  /** True for all users while there is no plan yet. */
  admits(ref: UserRef): boolean {
    const { inbounds } = this.#config;
    return !inbounds.hasPlan || inbounds.wants(ref);
  }

  /** What reads from the running core; undefined when none runs. */
  get reader(): Pick<CoreDriver, 'readConnections' | 'readLog' | 'logEnd' | 'online'> | undefined {
    return this.#process && this.#driver;
  }

  async trimLogs(limits: LogLimits): Promise<void> {
    await this.#driver?.trimLogs(limits);
  }

  /** Restarts with the current config. If the core rejects it, a running core stays as it is and this rejects with CoreRefused; a stopped core starts without the rejected parts. Rejects with CoreRefused too when there is no core. */
  restart(reason: string): Promise<void> {
    return this.#queue.run(async () => {
      const driver = this.#driver;
      if (!driver) throw new CoreRefused(this.#state.reason);
      const { composition, reload, applied } = this.#config;
      composition.retryRejected();
      if (this.#process) {
        await composition.require(driver);
        await reload.ask(reason, 'restart', await composition.plan(), applied.digests);
      }
      this.#retry.cancel();
      this.#state.failures.clear();
      await this.#gracefulStop(driver, reason);
      this.#wanted = true;
      await this.#start(driver).catch((error: unknown) => {
        this.#failed(error);
        throw error;
      });
    });
  }

  /** Stops the core after a last poll; with `leave` it keeps running, for another panel that adopts it at once. */
  stop(reason: string, leave = false): Promise<void> {
    this.#wanted = false;
    this.#retry.cancel();
    this.#config.changes.cancel();
    return this.#queue.run(async () => {
      if (leave) return this.#driver?.detach();
      if (this.#driver) await this.#gracefulStop(this.#driver, reason);
      this.#state.enter('stop', reason);
    });
  }

  /** Runs the program of another driver from now on; see swapCore. */
  swap(next: CoreDriver, reason: string, onStep: Parameters<typeof swapCore>[2]): Promise<string> {
    this.#needs.db.refuseInsideWrite('swap');
    next.onExit((why) => this.#driver === next && this.#onExit(why));
    return this.#queue.run(() => swapCore(this.#swappable(reason), next, onStep));
  }

  #swappable(reason: string): SwappableCore {
    const previous = this.#driver && { driver: this.#driver, version: this.#version };
    const why = this.#state.reason;
    const { composition, reload, applied, inbounds } = this.#config;
    return {
      previous,
      isWanted: this.#wanted || !previous,
      isRunning: () => this.#process !== undefined,
      plan: () => composition.plan(),
      ask: (plan) => reload.ask(reason, 'restart', plan, applied.digests),
      stop: (driver) => this.#gracefulStop(driver, reason),
      start: (driver) => this.#start(driver),
      take: (core) => {
        this.#retry.cancel();
        this.#driver = core?.driver;
        this.#version = core?.version ?? '';
        this.#wanted = this.#driver !== undefined && (this.#wanted || !previous);
        if (!core) this.absent(why);
      },
      rejected: () => inbounds.rejected.size,
      failed: (error) => this.#failed(error),
    };
  }

  async #gracefulStop(driver: CoreDriver, reason: string): Promise<void> {
    if (!this.#process) return;
    const { digests } = this.#config.applied;
    const needs = { ...this.#needs, driver, digests, counters: () => this.counters() };
    await gracefulStop(needs, reason, () => (this.#process = undefined));
  }

  #start(driver: CoreDriver): Promise<void> {
    return this.#config.start(driver, (process) => this.#markRunning(process));
  }

  #markRunning(process: CoreProcess): void {
    this.#process = process;
    this.#state.enter('running', '');
  }

  #onExit(lastMessage: string): void {
    const reason = this.#state.exited(lastMessage);
    const lived = this.#needs.clock.now() - (this.#process?.startedAt ?? this.#needs.clock.now());
    this.#process = undefined;
    if (!this.#wanted) return;
    this.#retry.lived(lived);
    this.#needs.log.error('the core exited; bytes since the last poll are not counted', { reason });
    this.#failed(new Error(reason));
  }

  #failed(error: unknown): void {
    this.#state.failed(messageOf(error));
    if (this.#wanted) this.#retry.later();
  }

  async #restartIfWanted(): Promise<void> {
    if (this.#driver && this.#wanted && !this.#state.running) await this.#bringUp(this.#driver);
  }
}
