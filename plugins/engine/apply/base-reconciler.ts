// Makes outbounds and rules of the running core those of the plan, without a restart where the core can do that.
import type { Log } from '../../../kernel/index.js';
import type { Applied } from './applied.js';
import { type BaseChange, type CoreDriver, CoreRefused, NeedsRestart } from '../driver.js';
import { baseDifference, type BaseDifference, type Plan } from '../config/plan.js';

interface Needs {
  readonly log: Log;
  readonly applied: Applied;
}

export class BaseReconciler {
  readonly #log: Log;
  readonly #applied: Applied;
  /** why the core rejects the base of the plan; empty when it does not */
  #rejection = '';

  constructor({ log, applied }: Needs) {
    this.#log = log;
    this.#applied = applied;
  }

  get problems(): readonly string[] {
    return this.#rejection ? [this.#rejection] : [];
  }
  forgetRejection(): void {
    this.#rejection = '';
  }

  /** Has the core test the base, where it differs. A core that rejects it must keep running, with its inbounds and users up to date. */
  async examine(driver: CoreDriver, plan: Plan): Promise<BaseDifference | 'rejected'> {
    const difference = baseDifference(plan, this.#applied.digests);
    if (difference === 'none') {
      this.#applied.base = plan.base;
      this.#rejection = '';
      return difference;
    }
    try {
      await driver.test(plan.base, []);
      this.#rejection = '';
      return difference;
    } catch (error) {
      return this.#reject(error);
    }
  }

  /** Changes the running core; `rejected` and `restart` leave it as it is. */
  async change(driver: CoreDriver, plan: Plan, change: BaseChange): Promise<'done' | 'restart' | 'rejected'> {
    const { digests } = this.#applied;
    const unknown = Object.fromEntries([...change.put, ...change.remove].map((tag) => [tag, '']));
    await this.#applied.remember(driver, {
      outbounds: { ...digests.outbounds, ...unknown },
      ...(change.rules && { rules: '' }),
    });
    try {
      await driver.changeBase(plan.base, change);
    } catch (error) {
      if (!(error instanceof CoreRefused || error instanceof NeedsRestart)) throw error;
      const { outbounds, rules } = digests;
      await this.#applied.remember(driver, { outbounds, rules });
      if (error instanceof NeedsRestart) return 'restart';
      return this.#reject(error);
    }
    await this.#applied.remember(driver, plan.digests);
    this.#applied.base = plan.base;
    return 'done';
  }

  #reject(error: unknown): 'rejected' {
    if (!(error instanceof CoreRefused)) throw error;
    if (this.#rejection !== error.message)
      this.#log.error('the core rejected the config and keeps the previous one', { reason: error.message });
    this.#rejection = error.message;
    return 'rejected';
  }
}
