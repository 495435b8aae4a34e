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
import type { CoreGuardApi } from '../core-guard/contract.js';
import { BackOff } from '../processes/contract.js';
import { ConfigReconciler } from './config.js';
import type { Applied, CoreCounters, EngineApi, EngineStatus, UserRef } from './contract.js';
import {
  type Accepted,
  type CoreDriver,
  type CoreInbound,
  type CoreProcess,
  CoreRefused,
  type CoreUser,
} from './driver.js';
import { gracefulStop } from './graceful-stop.js';
import { configJson, examine } from './preview.js';
import { ReloadGuard } from './reload.js';
import { startCore } from './start.js';
import { CoreState } from './state.js';
import { DONE, ofUsers, UserReconciler } from './users.js';

interface Needs extends Pick<PluginContext, 'hooks' | 'log' | 'clock' | 'contributions'> {
  db: Pick<Database, 'refuseInsideWrite'>;
  config: Openness;
  plugins: Pick<PluginsApi, 'leaveOut'>;
  guard: CoreGuardApi;
  accounts: Accounts;
}

export class Supervisor implements EngineApi {
  readonly #needs: Needs;
  readonly #composition: Composition;
  readonly #users: UserReconciler;
  readonly #config: ConfigReconciler;
  readonly #configUsers: ConfigUsers;
  /** Starts, stops and config changes, one after another. */
  readonly #queue = new SerialQueue();
  #driver: CoreDriver | undefined;
  #process: CoreProcess | undefined;
  /** a config change failed midway: what the core runs may differ from the plan */
  #behind = false;
  readonly #reload: ReloadGuard;
  readonly #state: CoreState;
  #version = '';
  readonly #retry = new BackOff(() => void this.#queue.run(() => this.#restartIfWanted()));
  #wanted = false;

  constructor(needs: Needs) {
    const { hooks, log, config, contributions, plugins, guard, accounts } = needs;
    this.#needs = needs;
    this.#state = new CoreState(hooks, log);
    this.#reload = new ReloadGuard(hooks, log);
    this.#users = new UserReconciler({ log, hooks, accounts, contributions });
    this.#composition = new Composition({
      hooks,
      log,
      plugins,
      guard,
      open: config,
      usersInConfig: (inbound) => this.#users.inConfig(inbound),
    });
    this.#config = new ConfigReconciler(log, this.#users);
    this.#configUsers = new ConfigUsers({
      users: this.#users,
      config: this.#config,
      reconcile: (begin) => this.reconcileConfig(begin),
      isBehind: () => this.#behind || !this.#state.running,
    });
  }

  status(): EngineStatus {
    return {
      state: this.#state.name,
      errorMsg: this.#state.running
        ? [...this.#reload.refusals, ...this.#config.refusals()].join('; ')
        : this.#state.reason,
      version: this.#version,
      startedAt: this.#process?.startedAt ?? 0,
    };
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
      this.#config.record = found.record;
      this.#markRunning(found.process);
    } catch (error) {
      this.#onFailure(error);
      return;
    }
    await this.#catchUp(driver, true);
  }

  /** Notes that there is no core, and why. */
  absent(reason: string): void {
    this.#state.enter('stop', reason);
  }

  /** @param begin is called when the queue reaches this call, before the plan is made */
  reconcileConfig(begin?: () => void): Promise<Applied> {
    this.#needs.db.refuseInsideWrite('reconcileConfig');
    return this.#queue.run(async () => {
      begin?.();
      return this.#driver && this.#state.running ? this.#catchUp(this.#driver, false) : this.#state.notNow();
    });
  }

  replaceInbound(inboundId: number): Promise<Applied> {
    this.#config.suspect(inboundId);
    return this.reconcileConfig();
  }

  /** Applies the plan; when that fails the core keeps what it runs, and `retryPending` tries again. */
  async #catchUp(driver: CoreDriver, adopted: boolean): Promise<Applied> {
    try {
      await this.#follow(driver, adopted);
      this.#behind = false;
      this.#reload.done();
      const [first] = this.#config.refusals();
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
    this.#reload.failed(error, this.#behind);
    this.#behind = true;
    return { pending: true, reason: messageOf(error) };
  }

  async reconcileUsers(users: readonly UserRef[]): Promise<Applied> {
    this.#needs.db.refuseInsideWrite('reconcileUsers');
    const driver = this.#driver;
    if (!driver || !this.#state.running) {
      // A core that is starting may have its users already.
      for (const { inboundId } of users) this.#users.dirty.add(inboundId);
      return users.length === 0 ? DONE : this.#state.notNow();
    }
    const { inConfig, byApi } = this.#configUsers.divide(users);
    const applied = await Promise.all([
      this.#users.applyAll(driver, this.#config.inbounds, byApi),
      this.#configUsers.change(inConfig),
    ]);
    return applied.find(({ pending }) => pending) ?? DONE;
  }

  async examine(inbound: CoreInbound, sample?: CoreUser): Promise<void> {
    this.#needs.db.refuseInsideWrite('examine');
    this.#needs.accounts.require(sample, inbound.protocol);
    // A program that did not print its version is not a core.
    const driver = this.#version ? this.#driver : undefined;
    await examine(driver, this.#composition, inbound, this.#needs.log, sample);
  }

  async counters(): Promise<CoreCounters | undefined> {
    this.#needs.db.refuseInsideWrite('counters');
    const process = this.#process;
    if (!this.#driver || !process) return undefined;
    const users = ofUsers(await this.#driver.counters('i'));
    // If the core was replaced meanwhile, these figures belong to the previous one.
    return this.#process === process ? { epoch: process.epoch, users } : undefined;
  }

  /** Retries what failed before; a job calls it. */
  async retryPending(): Promise<void> {
    const driver = this.#driver;
    if (!driver || !this.#state.running) return;
    if (this.#configUsers.behind) await this.#configUsers.change([]);
    else if (this.#behind || this.#config.incomplete) await this.reconcileConfig();
    await this.#users.compareDirty(driver, this.#config.inbounds);
  }

  /** True for all users while there is no plan yet. */
  admits(ref: UserRef): boolean {
    return !this.#config.planned || this.#config.wants(ref);
  }

  async accepted(hear: (batch: readonly Accepted[]) => void): Promise<void> {
    if (this.#process) await this.#driver?.accepted(hear);
  }

  async trimLogs(): Promise<void> {
    await this.#driver?.trimLogs();
  }

  /** Restarts with the current config. If the core rejects it, a running core stays as it is and this rejects with CoreRefused; a stopped core starts without the rejected parts. Rejects with CoreRefused too when there is no core. */
  restart(reason: string): Promise<void> {
    return this.#queue.run(async () => {
      const driver = this.#driver;
      if (!driver) throw new CoreRefused(this.#state.reason);
      this.#composition.retryRefused();
      if (this.#process) {
        await this.#composition.require(driver);
        await this.#reload.ask(reason, 'restart', await this.#composition.plan(), this.#config.record);
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

  /** Returns the whole config of a start, users included. Rejects with CoreRefused when there is no core. */
  async configJson(): Promise<Record<string, unknown>> {
    if (!this.#driver) throw new CoreRefused(this.#state.reason);
    return configJson(this.#driver, await this.#composition.plan(), this.#config.withUsers);
  }

  /** Stops the core after a last poll; with `leave` it keeps running, for another panel that adopts it at once. */
  stop(reason: string, leave = false): Promise<void> {
    this.#wanted = false;
    this.#retry.cancel();
    this.#configUsers.cancel();
    return this.#queue.run(async () => {
      if (leave) return this.#driver?.detach();
      if (this.#driver) await this.#gracefulStop(this.#driver, reason);
      this.#state.enter('stop', reason);
    });
  }

  async #gracefulStop(driver: CoreDriver, reason: string): Promise<void> {
    if (!this.#process) return;
    const parts = {
      ...this.#needs,
      driver,
      record: this.#config.record,
      counters: () => this.counters(),
    };
    await gracefulStop(parts, reason, () => (this.#process = undefined));
  }

  async #start(driver: CoreDriver): Promise<void> {
    const plan = await this.#composition.plan();
    this.#config.forgetRefusals();
    this.#behind = false;
    this.#reload.done();
    this.#users.dirty.clear();
    const started = await startCore(
      { driver, composition: this.#composition, config: this.#config, log: this.#needs.log },
      plan,
    );
    this.#config.took(started.plan, started.record);
    this.#markRunning(started.process);
    if (!started.whole) await this.#config.change(driver, started.plan);
    this.#composition.showRefused(started.plan, this.#config.refused);
    // The core may lack users that changed while it started.
    if (this.#configUsers.behind) await this.#follow(driver, false);
    await this.#users.compareDirty(driver, this.#config.inbounds);
  }

  /** Applies the current plan to a running core: hot where possible, else by a tested restart. */
  async #follow(driver: CoreDriver, adopted: boolean): Promise<void> {
    this.#configUsers.planned();
    let plan = await this.#composition.plan();
    if (plan.baseDigest !== this.#config.record.base)
      plan = await this.#composition.accepted(driver, plan, false);
    if (await this.#config.needsRestart(driver, plan)) {
      const reason = 'a change of the config needs a restart';
      await this.#reload.ask(reason, 'restart', plan, this.#config.record);
      this.#needs.log.info('restarting the core: this change cannot be made while it runs');
      await this.#gracefulStop(driver, reason);
      await this.#start(driver);
      return;
    }
    await this.#reload.ask('inbounds changed', 'hot', plan, this.#config.record);
    this.#config.took(plan, this.#config.record);
    // The users of an adopted core are not known; they stay marked until each inbound was compared.
    if (adopted) this.#config.suspectUsers();
    await this.#config.change(driver, plan);
    this.#composition.showRefused(plan, this.#config.refused);
    if (adopted) await this.#users.compareDirty(driver, this.#config.inbounds);
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
