// The config of the running core: what it should be, and how the core gets it.
import { messageOf, type PluginContext, type PluginsApi } from '../../../kernel/index.js';
import type { CoreGuardApi } from '../../core-guard/contract.js';
import type { Accounts } from '../users/accounts.js';
import { Applied as AppliedState } from './applied.js';
import type { Openness } from '../config/base-config.js';
import { BaseReconciler } from './base-reconciler.js';
import { Composition } from '../config/composition.js';
import { ConfigUsers } from '../users/config-users.js';
import { type Applied, beforeRulesInForce, DONE } from '../contract.js';
import { DesiredUsers } from '../users/desired-users.js';
import { DriftWatch } from './drift.js';
import type { CoreDriver, CoreProcess } from '../driver.js';
import { InboundReconciler } from './inbound-reconciler.js';
import { PartProblems } from '../config/part-problems.js';
import type { Plan } from '../config/plan.js';
import { PlanApplier, RestartLater } from './plan-applier.js';
import { Preview } from '../config/preview.js';
import { ReloadGuard, ReloadRefused } from './reload.js';
import { balancersIn } from '../config/routing-tags.js';
import { startCore } from '../life/start.js';
import type { CoreState } from '../life/state.js';
import { UserChanges } from '../users/user-changes.js';
import { UserReconciler } from '../users/user-reconciler.js';

export interface ConfigNeeds extends Pick<PluginContext, 'hooks' | 'log' | 'contributions'> {
  config: Openness;
  plugins: Pick<PluginsApi, 'leaveOut'>;
  guard: CoreGuardApi;
  accounts: Accounts;
}
/** What the config needs of the one who starts and stops the core. */
export interface Core {
  readonly state: CoreState;
  driver(): CoreDriver | undefined;
  /** Waits for its turn, calls `begin`, and applies the plan of that moment. Never rejects. */
  reconcile(begin: () => void): Promise<Applied>;
  /** Stops the core after a last poll and starts it with the current plan. */
  restart(reason: string): Promise<void>;
}

export class RunningConfig {
  readonly #needs: Pick<ConfigNeeds, 'log' | 'hooks'>;
  readonly #core: Core;
  readonly #base: BaseReconciler;
  readonly #applier: PlanApplier;
  readonly #drift: DriftWatch;
  readonly #configUsers: ConfigUsers;
  readonly applied = new AppliedState();
  readonly composition: Composition;
  readonly users: UserReconciler;
  readonly inbounds: InboundReconciler;
  readonly changes: UserChanges;
  readonly reload: ReloadGuard;
  readonly preview: Preview;
  /** a change failed midway: what the core runs may differ from the plan until `retry` applies it */
  isBehind = false;

  constructor(needs: ConfigNeeds, core: Core) {
    const { hooks, log, config: open, contributions, plugins, guard, accounts } = needs;
    const { applied } = this;
    this.#needs = { log, hooks };
    this.#core = core;
    this.reload = new ReloadGuard(hooks, log);
    const desired = new DesiredUsers({ log, accounts, contributions });
    this.users = new UserReconciler({ log, hooks, desired });
    this.#base = new BaseReconciler({ log, applied });
    this.inbounds = new InboundReconciler({ log, applied, users: this.users, desired });
    this.composition = new Composition({
      hooks,
      log,
      plugins,
      guard,
      checks: new PartProblems({ contributions }),
      open,
      usersInConfig: (inbound) => desired.inConfig(inbound, core.driver()?.maxUserBytes ?? Infinity),
    });
    const { composition, users, inbounds } = this;
    this.#drift = new DriftWatch({
      hooks,
      log,
      applied,
      inbounds,
      users,
      desired,
      isBusy: () => this.changes.isBusy,
    });
    this.preview = new Preview({
      composition,
      applied,
      driver: () => core.driver(),
      running: () => core.state.running,
    });
    this.#applier = new PlanApplier({
      log,
      applied,
      composition,
      base: this.#base,
      inbounds,
      reload: this.reload,
      restart: (reason) => core.restart(reason),
    });
    this.#configUsers = new ConfigUsers({
      users,
      inbounds,
      reconcile: (begin) => core.reconcile(begin),
      planNotApplied: () => this.isBehind || !core.state.running,
    });
    this.changes = new UserChanges({
      users,
      inbounds,
      configUsers: this.#configUsers,
      desired,
      driver: () => (core.state.answers ? core.driver() : undefined),
      notNow: () => core.state.notNow(),
    });
  }

  /** What the core does not run, with the reasons. */
  get problems(): string[] {
    return [...this.#base.problems, ...this.#applier.problems, ...this.inbounds.problems()];
  }

  /** Starts the core with the current plan, or with as much of it as it accepts. `onRunning` is called before inbounds and users that it lacks follow. */
  async start(driver: CoreDriver, onRunning: (process: CoreProcess) => void): Promise<void> {
    const { composition, inbounds, users, applied } = this;
    const plan = await composition.plan();
    inbounds.forgetRejected();
    this.isBehind = false;
    this.reload.clear();
    users.unmark(users.marked);
    const started = await startCore({ driver, composition, inbounds, log: this.#needs.log }, plan);
    inbounds.setPlan(started.plan);
    applied.digests = started.digests;
    applied.base = started.plan.base;
    this.#base.forgetRejection();
    onRunning(started.process);
    await this.#tellRules(started.plan);
    if (!started.hasInbounds) await inbounds.change(driver, started.plan);
    composition.reportRejected(started.plan, inbounds.rejected);
    // The core may lack users that changed while it started.
    if (this.#configUsers.hasWaiting) await this.#apply(driver, false);
    await users.compareMarked(driver, inbounds.planned);
  }

  /** Applies the current plan to a running core. Rejects as `#apply` does. */
  async apply(driver: CoreDriver, adopted: boolean): Promise<Applied> {
    await this.#apply(driver, adopted);
    this.isBehind = false;
    this.reload.clear();
    const [rejection] = this.#base.problems;
    if (rejection !== undefined) return { pending: true, reason: rejection, rejected: true };
    const [first] = this.problems;
    return first === undefined ? DONE : { pending: true, reason: first };
  }

  /** Hot where possible, else by a tested restart. Rejects when a plugin refuses, the core is away, or a restart must wait. */
  async #apply(driver: CoreDriver, adopted: boolean): Promise<void> {
    const { composition, inbounds, users } = this;
    this.#configUsers.beforePlan();
    const { rules } = this.applied.digests;
    const plan = await this.#applier.apply(driver);
    if (!plan) return;
    if (plan.digests.rules !== rules && this.applied.digests.rules === plan.digests.rules)
      await this.#tellRules(plan);
    // The users of an adopted core are not known; they stay marked until each inbound was compared.
    if (adopted) inbounds.markUsers();
    await inbounds.change(driver, plan);
    composition.reportRejected(plan, inbounds.rejected);
    if (adopted) await users.compareMarked(driver, inbounds.planned);
  }

  async #tellRules({ base }: Plan): Promise<void> {
    await this.#needs.hooks.notify(beforeRulesInForce, { balancers: balancersIn(base) });
  }

  /** Notes that the running core keeps what it runs, until a retry. */
  failed(error: unknown): Applied {
    const reason = messageOf(error);
    if (error instanceof ReloadRefused) this.reload.refused(error);
    else if (!this.isBehind && !(error instanceof RestartLater))
      this.#needs.log.error('the core did not accept its whole config; it keeps what it runs; retrying', {
        reason,
      });
    this.isBehind = true;
    return { pending: true, reason };
  }

  /** Tries again what failed before. */
  async retry(driver: CoreDriver): Promise<void> {
    if (this.#configUsers.hasWaiting) await this.#configUsers.retry();
    else if (this.isBehind || this.inbounds.isIncomplete) await this.#core.reconcile(() => undefined);
    await this.users.compareMarked(driver, this.inbounds.planned);
  }

  /** Reads back what the core runs; `applyAgain` is called when the plan must be applied again. */
  async checkDrift(driver: CoreDriver, applyAgain: () => Promise<unknown>): Promise<void> {
    if (this.isBehind || this.#configUsers.hasWaiting) return;
    if (await this.#drift.differs(driver)) await applyAgain();
    await this.users.compareMarked(driver, this.inbounds.planned);
  }
}
