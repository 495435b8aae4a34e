// Supervises the core: adopts or starts it, keeps it running, changes it while it runs, stops it with its last bytes counted.
import {
  type Database,
  messageOf,
  SerialQueue,
  type PluginContext,
  type PluginsApi,
} from '../../kernel/index.js';
import type { Openness } from './base-config.js';
import type { Accounts } from './accounts.js';
import { Composition } from './composition.js';
import { ConfigUsers } from './config-users.js';
import { countersOf } from './counters.js';
import type { CoreGuardApi } from '../core-guard/contract.js';
import { BackOff, type LogLimits } from '../processes/contract.js';
import { type Applied, type CoreCounters, DONE, type EngineApi, type UserRef } from './contract.js';
import { DesiredUsers } from './desired-users.js';
import { type CoreDriver, type CoreInbound, type CoreProcess, CoreRefused, type CoreUser } from './driver.js';
import { gracefulStop } from './graceful-stop.js';
import { InboundReconciler } from './inbound-reconciler.js';
import { testInbound } from './inbound-test.js';
import type { UsersInConfig } from './plan.js';
import { ReloadGuard, ReloadRefused } from './reload.js';
import { startCore } from './start.js';
import { CoreState } from './state.js';
import { UserChanges } from './user-changes.js';
import { UserReconciler } from './user-reconciler.js';

interface Needs extends Pick<PluginContext, 'hooks' | 'log' | 'clock' | 'contributions'> {
  db: Pick<Database, 'refuseInsideWrite'>;
  config: Openness;
  plugins: Pick<PluginsApi, 'leaveOut'>;
  guard: CoreGuardApi;
  accounts: Accounts;
}

export class Supervisor implements EngineApi {
  readonly #needs: Pick<Needs, 'db' | 'hooks' | 'log' | 'clock' | 'accounts'>;
  readonly #composition: Composition;
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
    plan: () => this.#composition.plan(),
  });
  readonly #retry = new BackOff(() => void this.#queue.run(() => this.#restartIfWanted()));
  #wanted = false;

  constructor({ db, hooks, log, clock, config: open, contributions, plugins, guard, accounts }: Needs) {
    this.#needs = { db, hooks, log, clock, accounts };
    this.#state = new CoreState(hooks, log);
    this.#reload = new ReloadGuard(hooks, log);
    const desired = new DesiredUsers({ log, accounts, contributions });
    this.#users = new UserReconciler({ log, hooks, desired });
    this.#inbounds = new InboundReconciler({ log, users: this.#users, desired });
    const usersInConfig: UsersInConfig = (inbound) =>
      desired.inConfig(inbound, this.#driver?.maxUserBytes ?? Infinity);
    this.#composition = new Composition({ hooks, log, plugins, guard, open, usersInConfig });
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
      driver: () => (this.#state.running ? this.#driver : undefined),
      notNow: () => this.#state.notNow(),
    });
  }

  status(): ReturnType<EngineApi['status']> {
    return {
      state: this.#state.name,
      errorMsg: this.#state.running
        ? [...this.#reload.refusals, ...this.#inbounds.problems()].join('; ')
        : this.#state.reason,
      version: this.#version,
      startedAt: this.#process?.startedAt ?? 0,
      usersOnTheWay: this.#changes.onTheWay,
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
      this.#inbounds.digests = found.digests;
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
      return this.#driver && this.#state.running ? this.#tryPlan(this.#driver, false) : this.#state.notNow();
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
      const [first] = this.#inbounds.problems();
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
    else if (!this.#planNotApplied)
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

  async counters(only?: 'outbounds'): Promise<CoreCounters | undefined> {
    this.#needs.db.refuseInsideWrite('counters');
    const process = this.#process;
    if (!this.#driver || !process) return undefined;
    const counters = await countersOf(this.#driver, process.epoch, only);
    // If the core was replaced meanwhile, these figures belong to the previous one.
    return this.#process === process ? counters : undefined;
  }

  /** Retries what failed before; a job calls it. */
  async retryPending(): Promise<void> {
    const driver = this.#driver;
    if (!driver || !this.#state.running) return;
    if (this.#configUsers.hasWaiting) await this.#configUsers.retry();
    else if (this.#planNotApplied || this.#inbounds.isIncomplete) await this.reconcileConfig();
    await this.#users.compareMarked(driver, this.#inbounds.planned);
  }

  /** True for all users while there is no plan yet. */
  admits(ref: UserRef): boolean {
    return !this.#inbounds.hasPlan || this.#inbounds.wants(ref);
  }

  /** What reads from the running core; undefined when none runs. */
  get reader(): Pick<CoreDriver, 'readConnections' | 'readLog' | 'online'> | undefined {
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
      this.#composition.retryRejected();
      if (this.#process) {
        await this.#composition.require(driver);
        await this.#reload.ask(reason, 'restart', await this.#composition.plan(), this.#inbounds.digests);
      }
      this.#retry.cancel();
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

  async #gracefulStop(driver: CoreDriver, reason: string): Promise<void> {
    if (!this.#process) return;
    const { digests } = this.#inbounds;
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
    this.#inbounds.setPlan(started.plan, started.digests);
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
    let plan = await this.#composition.plan();
    if (plan.baseDigest !== this.#inbounds.digests.base)
      plan = await this.#composition.withoutCulprits(driver, plan, { testInbounds: false });
    if ((await this.#inbounds.testNewBase(driver, plan)) === 'accepted') {
      const reason = 'a change of the config needs a restart';
      await this.#reload.ask(reason, 'restart', plan, this.#inbounds.digests);
      this.#needs.log.info('restarting the core: this change cannot be made while it runs');
      await this.#gracefulStop(driver, reason);
      await this.#start(driver);
      return;
    }
    await this.#reload.ask('inbounds changed', 'hot', plan, this.#inbounds.digests);
    this.#inbounds.setPlan(plan, this.#inbounds.digests);
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

  #onExit(reason: string): void {
    const lived = this.#needs.clock.now() - (this.#process?.startedAt ?? this.#needs.clock.now());
    this.#process = undefined;
    if (!this.#wanted) return;
    this.#retry.lived(lived);
    this.#needs.log.error('the core exited; bytes since the last poll are not counted', { reason });
    this.#failed(new Error(reason));
  }

  #failed(error: unknown): void {
    this.#state.enter('error', messageOf(error));
    if (this.#wanted) this.#retry.later();
  }

  async #restartIfWanted(): Promise<void> {
    if (this.#driver && this.#wanted && !this.#state.running) await this.#bringUp(this.#driver);
  }
}
