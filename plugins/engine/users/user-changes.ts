// Brings changed users to the running core: a few at once, many after the caller has its answer.
import type { ConfigUsers } from './config-users.js';
import { type Applied, DONE, type UserRef } from '../contract.js';
import type { DesiredUsers } from './desired-users.js';
import type { CoreDriver } from '../driver.js';
import type { InboundReconciler } from '../apply/inbound-reconciler.js';
import { UserBacklog } from './user-backlog.js';
import type { UserReconciler } from './user-reconciler.js';

/** Users of one call that its caller waits for: about 0.2 s. */
const AWAITED_USERS = 1000;

interface Needs {
  readonly users: UserReconciler;
  readonly inbounds: InboundReconciler;
  readonly configUsers: ConfigUsers;
  readonly desired: DesiredUsers;
  /** undefined while no core runs */
  readonly driver: () => CoreDriver | undefined;
  /** the answer while no core runs */
  readonly notNow: () => Applied;
}

export class UserChanges {
  readonly #needs: Needs;
  /** users of calls that wait for the core */
  #awaited = 0;
  readonly backlog: UserBacklog;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.backlog = new UserBacklog({
      isGone: (user) => needs.desired.isGone(user),
      apply: (portion) => this.#apply(portion),
    });
  }

  /** Users whose change the core does not have yet. */
  get onTheWay(): number {
    return this.backlog.size + this.#needs.configUsers.onTheWay;
  }
  /** Whether the core may lack a change that it is about to get. */
  get isBusy(): boolean {
    return this.onTheWay + this.#awaited > 0;
  }

  async reconcile(users: readonly UserRef[]): Promise<Applied> {
    const isLarge = users.length > AWAITED_USERS && this.#needs.driver() !== undefined;
    if (isLarge) return this.backlog.add(users);
    this.backlog.overtake(users);
    this.#awaited += users.length;
    try {
      return await this.#apply(users);
    } finally {
      this.#awaited -= users.length;
    }
  }

  /** Forgets what the core does not have yet: no core runs that should have it. */
  cancel(): void {
    this.#needs.configUsers.cancel();
    this.backlog.clear();
  }

  async #apply(refs: readonly UserRef[]): Promise<Applied> {
    const { users, inbounds, configUsers, notNow } = this.#needs;
    const driver = this.#needs.driver();
    if (!driver) {
      // A start may have read these users already: compare them after it.
      for (const { inboundId } of refs) users.mark(inboundId);
      return refs.length === 0 ? DONE : notNow();
    }
    const { inConfig, byApi } = configUsers.divide(refs);
    const applied = await Promise.all([
      users.applyAll(driver, inbounds.planned, byApi),
      configUsers.change(inConfig),
    ]);
    return applied.find(({ pending }) => pending) ?? DONE;
  }
}
