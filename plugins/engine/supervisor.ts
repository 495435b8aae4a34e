// Supervises the core: adopts or starts it, keeps it running, changes it while it runs, stops it with its last bytes counted.
import { messageOf, SerialQueue, type PluginContext, type PluginsApi } from '../../kernel/index.js';
import type { Openness } from './base-config.js';
import { BaseReconciler } from './base-reconciler.js';
import type { Accounts } from './accounts.js';
import { Applied as AppliedState } from './applied.js';
import { Composition } from './composition.js';
import { ConfigUsers } from './config-users.js';
import type { CoreGuardApi } from '../core-guard/contract.js';
import { BackOff } from '../processes/contract.js';
import {
  type Applied,
  type CoreCounters,
  type CorePart,
  type CorePreview,
  DONE,
  type EngineApi,
  type UserRef,
} from './contract.js';
import { DesiredUsers } from './desired-users.js';
import { DriftWatch } from './drift.js';
import { type CoreDriver, type CoreInbound, type CoreProcess, CoreRefused, type CoreUser } from './driver.js';
import { gracefulStop } from './graceful-stop.js';
import { InboundReconciler } from './inbound-reconciler.js';
import { testInbound } from './inbound-test.js';
import { PartProblems } from './part-problems.js';
import type { UsersInConfig } from './plan.js';
import { PlanApplier, RestartLater } from './plan-applier.js';
import { Preview } from './preview.js';
import { ReloadGuard, ReloadRefused } from './reload.js';
import { startCore } from './start.js';
import { type SwappableCore, swapCore } from './core-swap.js';
import { CoreState } from './state.js';
import { countersOfUsers, USER_PREFIX } from './user-name.js';
import { UserChanges } from './user-changes.js';
import { UserReconciler } from './user-reconciler.js';

interface Needs extends Pick<PluginContext, 'hooks' | 'log' | 'clock' | 'contributions'> {
  db: Pick<PluginContext['db'], 'refuseInsideWrite'>;
  config: Openness;
  plugins: Pick<PluginsApi, 'leaveOut'>;
  guard: CoreGuardApi;
  accounts: Accounts;
}

export class Supervisor implements EngineApi {
  readonly #needs: Pick<Needs, 'db' | 'hooks' | 'log' | 'clock' | 'accounts'>;
  readonly #composition: Composition;
  readonly #applied = new AppliedState();
  readonly #base: BaseReconciler;
  readonly #applier: PlanApplier;
  readonly look: Preview;
  readonly #drift: DriftWatch;
  readonly #users: UserReconciler;
  readonly #inbounds: InboundReconciler;
  readonly #configUsers: ConfigUsers;
  readonly #changes: UserChanges;
  /** Starts, stops and config changes, one after another. */
  readonly #queue = new SerialQueue();
  #driver: CoreDriver | undefined;
  #process: CoreProcess | undefined;
  /** a change of the config failed midway: what the core runs may differ from the plan until `retryPending` applies it */
  #planNotApplied = false;
  readonly #reload: ReloadGuard;
  readonly #state: CoreState;
  #version = '';
  /** for comparisons with the core, while `reader` is there */
  readonly parts = () => ({
    driver: this.#driver,
    users: this.#users,
    inbounds: this.#inbounds,
    applied: this.#applied,
    plan: () => this.#composition.plan(),
  });
  /** for those who watch the core; `process` is undefined while none runs */
  readonly watched = () => ({ state: this.#state, process: this.#process, monitor: this.#driver?.monitor });
  readonly #retry = new BackOff(() => void this.#queue.run(() => this.#restartIfWanted()));
  #wanted = false;

  constructor({ db, hooks, log, clock, config: open, contributions, plugins, guard, accounts }: Needs) {
    this.#needs = { db, hooks, log, clock, accounts };
    this.#state = new CoreState({ hooks, log, clock });
    this.#reload = new ReloadGuard(hooks, log);
    const desired = new DesiredUsers({ log, accounts, contributions });
    this.#users = new UserReconciler({ log, hooks, desired });
    const applied = this.#applied;
    this.#base = new BaseReconciler({ log, applied });
    this.#inbounds = new InboundReconciler({ log, applied, users: this.#users, desired });
    const usersInConfig: UsersInConfig = (inbound) =>
      desired.inConfig(inbound, this.#driver?.maxUserBytes ?? Infinity);
    const checks = new PartProblems({ contributions });
    this.#composition = new Composition({ hooks, log, plugins, guard, checks, open, usersInConfig });
    this.#drift = new DriftWatch({
      hooks,
      log,
      applied,
      inbounds: this.#inbounds,
      users: this.#users,
      desired,
    });
    this.look = new Preview({
      composition: this.#composition,
      applied,
      driver: () => (this.hasCore ? this.#driver : undefined),
      running: () => this.#state.running,
    });
    this.#applier = new PlanApplier({
      log,
      applied,
      composition: this.#composition,
      base: this.#base,
      inbounds: this.#inbounds,
      reload: this.#reload,
      restart: async (reason) => {
        if (!this.#driver) return;
        await this.#gracefulStop(this.#driver, reason);
        await this.#start(this.#driver);
      },
    });
    this.#configUsers = new ConfigUsers({
      users: this.#users,
      inbounds: this.#inbounds,
      reconcile: (begin) => this.#reconcile(begin),
      planNotApplied: () => this.#planNotApplied || !this.#state.running,
    });
    this.#changes = new UserChanges({
      users: this.#users,
      inbounds: this.#inbounds,
      configUsers: this.#configUsers,
      desired,
      driver: () => (this.#state.answers ? this.#driver : undefined),
      notNow: () => this.#state.notNow(),
    });
  }

  status(): ReturnType<EngineApi['status']> {
    return {
      state: this.#state.name,
      errorMsg: this.#state.message(() => [...this.#reload.refusals, ...this.#problems()]),
      version: this.#version,
      startedAt: this.#process?.startedAt ?? 0,
      usersOnTheWay: this.#changes.onTheWay,
      memory: this.#state.memory,
    };
  }

  /** What the core does not run, with the reasons. */
  #problems(): string[] {
    return [...this.#base.problems, ...this.#applier.problems, ...this.#inbounds.problems()];
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
      this.#applied.digests = found.digests;
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

  reconcileConfig(): Promise<Applied> {
    this.#needs.db.refuseInsideWrite('reconcileConfig');
    return this.#reconcile(() => undefined);
  }

  /** @param begin is called when the queue reaches this call, before the plan is made */
  #reconcile(begin: () => void): Promise<Applied> {
    return this.#queue.run(async () => {
      begin();
      if (this.#driver && this.#state.answers) return this.#tryPlan(this.#driver, false);
      this.#planNotApplied = true;
      return this.#state.notNow();
    });
  }

  replaceInbound(inboundId: number): Promise<Applied> {
    this.#inbounds.suspect(inboundId);
    return this.reconcileConfig();
  }

  /** Applies the plan; when that fails the core keeps what it runs, and `retryPending` tries again. */
  async #tryPlan(driver: CoreDriver, adopted: boolean): Promise<Applied> {
    try {
      await this.#applyOrRestart(driver, adopted);
      this.#planNotApplied = false;
      this.#reload.clear();
      const [rejection] = this.#base.problems;
      if (rejection !== undefined) return { pending: true, reason: rejection, rejected: true };
      const [first] = this.#problems();
      return first === undefined ? DONE : { pending: true, reason: first };
    } catch (error) {
      return this.#onFailure(error);
    }
  }

  /** A running core keeps what it runs until the retry; a stopped one is restarted. */
  #onFailure(error: unknown): Applied {
    if (!this.#process) {
      this.#failed(error);
      return this.#state.notNow();
    }
    const reason = messageOf(error);
    if (error instanceof ReloadRefused) this.#reload.refused(error);
    else if (!this.#planNotApplied && !(error instanceof RestartLater))
      this.#needs.log.error('the core did not accept its whole config; it keeps what it runs; retrying', {
        reason,
      });
    this.#planNotApplied = true;
    return { pending: true, reason };
  }

  async reconcileUsers(users: readonly UserRef[]): Promise<Applied> {
    this.#needs.db.refuseInsideWrite('reconcileUsers');
    return this.#changes.reconcile(users);
  }

  async examine(inbound: CoreInbound, sample?: CoreUser): Promise<void> {
    this.#needs.db.refuseInsideWrite('examine');
    this.#needs.accounts.require(sample, inbound.protocol);
    const driver = this.#driver;
    if (!driver || !this.hasCore) return;
    await testInbound({ driver, composition: this.#composition, log: this.#needs.log }, inbound, sample);
  }

  preview(plugin: string, parts: readonly CorePart[]): Promise<CorePreview> {
    this.#needs.db.refuseInsideWrite('preview');
    return this.look.of({ plugin, parts });
  }

  /** @param isLast asks also a core that has not answered lately */
  async counters(isLast = false): Promise<CoreCounters | undefined> {
    this.#needs.db.refuseInsideWrite('counters');
    const process = this.#process;
    if (!this.#driver || !process) return undefined;
    if (!isLast) this.#state.requireAnswers();
    const users = await countersOfUsers(await this.#driver.counters(USER_PREFIX));
    // If the core was replaced meanwhile, these figures belong to the previous one.
    return this.#process === process ? { epoch: process.epoch, users } : undefined;
  }

  /** Retries what failed before; a job calls it. */
  async retryPending(): Promise<void> {
    const driver = this.#driver;
    if (!driver || !this.#state.answers) return;
    if (this.#configUsers.hasWaiting) await this.#configUsers.retry();
    else if (this.#planNotApplied || this.#inbounds.isIncomplete) await this.reconcileConfig();
    await this.#users.compareMarked(driver, this.#inbounds.planned);
  }

  /** Reads back what the core runs, and fixes what differs; a job calls it. */
  checkDrift(): Promise<void> {
    return this.#queue.run(async () => {
      const driver = this.#driver;
      if (!driver || !this.#state.answers || this.#planNotApplied || this.#configUsers.hasWaiting) return;
      if (await this.#drift.differs(driver)) await this.#tryPlan(driver, false);
      await this.#users.compareMarked(driver, this.#inbounds.planned);
    });
  }

  /** True for all users while there is no plan yet. */
  admits(ref: UserRef): boolean {
    return !this.#inbounds.hasPlan || this.#inbounds.wants(ref);
  }

  /** What reads from the running core; undefined when none runs. */
  get reader(): Pick<CoreDriver, 'readConnections' | 'readLog' | 'online'> | undefined {
    return this.#process && this.#driver;
  }

  async trimLogs(): Promise<void> {
    await this.#driver?.trimLogs();
  }

  /** Restarts with the current config. If the core rejects it, a running core stays as it is and this rejects with CoreRefused; a stopped core starts without the rejected parts. Rejects with CoreRefused too when there is no core. */
  restart(reason: string): Promise<void> {
    return this.#queue.run(async () => {
      const driver = this.#driver;
      if (!driver) throw new CoreRefused(this.#state.reason);
      this.#composition.retryRejected();
      if (this.#process) {
        await this.#composition.require(driver);
        await this.#reload.ask(reason, 'restart', await this.#composition.plan(), this.#applied.digests);
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
    this.#changes.cancel();
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
    return {
      previous,
      isWanted: this.#wanted || !previous,
      isRunning: () => this.#process !== undefined,
      plan: () => this.#composition.plan(),
      ask: (plan) => this.#reload.ask(reason, 'restart', plan, this.#applied.digests),
      stop: (driver) => this.#gracefulStop(driver, reason),
      start: (driver) => this.#start(driver),
      take: (core) => {
        this.#retry.cancel();
        this.#driver = core?.driver;
        this.#version = core?.version ?? '';
        this.#wanted = this.#driver !== undefined && (this.#wanted || !previous);
        if (!core) this.absent(why);
      },
      rejected: () => this.#inbounds.rejected.size,
      failed: (error) => this.#failed(error),
    };
  }

  async #gracefulStop(driver: CoreDriver, reason: string): Promise<void> {
    if (!this.#process) return;
    const { digests } = this.#applied;
    const needs = { ...this.#needs, driver, digests, counters: () => this.counters() };
    await gracefulStop(needs, reason, () => (this.#process = undefined));
  }

  async #start(driver: CoreDriver): Promise<void> {
    const plan = await this.#composition.plan();
    this.#inbounds.forgetRejected();
    this.#planNotApplied = false;
    this.#reload.clear();
    this.#users.unmark(this.#users.marked);
    const needs = { driver, composition: this.#composition, inbounds: this.#inbounds, log: this.#needs.log };
    const started = await startCore(needs, plan);
    this.#inbounds.setPlan(started.plan);
    this.#applied.digests = started.digests;
    this.#applied.base = started.plan.base;
    this.#base.forgetRejection();
    this.#markRunning(started.process);
    if (!started.hasInbounds) await this.#inbounds.change(driver, started.plan);
    this.#composition.reportRejected(started.plan, this.#inbounds.rejected);
    // The core may lack users that changed while it started.
    if (this.#configUsers.hasWaiting) await this.#applyOrRestart(driver, false);
    await this.#users.compareMarked(driver, this.#inbounds.planned);
  }

  /** Applies the current plan to a running core: hot where possible, else by a tested restart. */
  async #applyOrRestart(driver: CoreDriver, adopted: boolean): Promise<void> {
    this.#configUsers.beforePlan();
    const plan = await this.#applier.apply(driver);
    if (!plan) return;
    // The users of an adopted core are not known; they stay marked until each inbound was compared.
    if (adopted) this.#inbounds.markUsers();
    await this.#inbounds.change(driver, plan);
    this.#composition.reportRejected(plan, this.#inbounds.rejected);
    if (adopted) await this.#users.compareMarked(driver, this.#inbounds.planned);
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
