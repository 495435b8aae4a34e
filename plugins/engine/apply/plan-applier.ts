// Applies a plan to the running core: hot where the core can, else by a tested restart.
import type { Log } from '../../../kernel/index.js';
import type { Applied } from './applied.js';
import type { BaseReconciler } from './base-reconciler.js';
import type { Composition } from '../config/composition.js';
import type { CoreDriver } from '../driver.js';
import type { InboundReconciler } from './inbound-reconciler.js';
import { baseDifference, type Plan } from '../config/plan.js';
import type { ReloadGuard } from './reload.js';

/** Changes that need a restart come in bursts: one restart makes all that came before it. */
const BETWEEN_RESTARTS_MS = 10_000;

/** A restart is due, and the last one was a moment ago. The engine's job tries again. */
export class RestartLater extends Error {
  override readonly name = 'RestartLater';
}

interface Needs {
  readonly log: Log;
  readonly applied: Applied;
  readonly composition: Composition;
  readonly base: BaseReconciler;
  readonly inbounds: InboundReconciler;
  readonly reload: ReloadGuard;
  /** Stops the core after a last poll and starts it with the current plan. */
  readonly restart: (reason: string) => Promise<void>;
}

const RESTART_REASON = 'a change of the config needs a restart';

export class PlanApplier {
  readonly #needs: Needs;
  #restartedAt = -Infinity;
  /** a restart that is due later; empty when none is */
  #due = '';

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  get problems(): readonly string[] {
    return this.#due ? [this.#due] : [];
  }

  /** Resolves with the plan that is applied but for its inbounds, or with nothing after a restart, which has applied all. Rejects with ReloadRefused or RestartLater. */
  async apply(driver: CoreDriver): Promise<Plan | undefined> {
    const { applied, composition, base, inbounds, reload } = this.#needs;
    let plan = await composition.plan();
    inbounds.noteLeftOut(plan);
    if (baseDifference(plan, applied.digests) !== 'none')
      plan = await composition.withoutCulprits(driver, plan, { testInbounds: false });
    this.#due = '';
    const change = await base.examine(driver, plan);
    if (change === 'restart') return this.#restart(plan);
    const hasBase = change !== 'none' && change !== 'rejected';
    await reload.ask(hasBase ? 'the config changed' : 'inbounds changed', 'hot', plan, applied.digests);
    if (hasBase && (await base.change(driver, plan, change)) === 'restart') return this.#restart(plan);
    inbounds.setPlan(plan);
    return plan;
  }

  async #restart(plan: Plan): Promise<undefined> {
    const { applied, reload, log, restart } = this.#needs;
    const wait = this.#restartedAt + BETWEEN_RESTARTS_MS - performance.now();
    if (wait > 0) {
      this.#due = `it needs a restart of the core; the last one was a moment ago, the next one follows in ${Math.ceil(wait / 1000)} s`;
      throw new RestartLater(this.#due);
    }
    await reload.ask(RESTART_REASON, 'restart', plan, applied.digests);
    log.info('restarting the core: this change cannot be made while it runs');
    this.#restartedAt = performance.now();
    await restart(RESTART_REASON);
  }
}
