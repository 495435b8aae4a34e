// What the running core runs, and how its inbounds are reconciled with a plan. As with users, each step may be repeated
// or late.
import type { Log } from '../../../kernel/index.js';
import type { Applied } from './applied.js';
import type { UserRef } from '../contract.js';
import type { DesiredUsers } from '../users/desired-users.js';
import { type CoreDriver, CoreRefused, type InboundWithUsers } from '../driver.js';
import { difference, type Plan, type PlannedInbound } from '../config/plan.js';
import type { UserReconciler } from '../users/user-reconciler.js';

interface Needs {
  readonly log: Log;
  readonly applied: Applied;
  readonly users: UserReconciler;
  readonly desired: DesiredUsers;
}

export class InboundReconciler {
  readonly #log: Log;
  readonly #applied: Applied;
  readonly #users: UserReconciler;
  readonly #desired: DesiredUsers;
  /** inbounds that the core should run, by id */
  planned: ReadonlyMap<number, PlannedInbound> = new Map();
  /** inbounds that the core rejects, by tag, with the reason */
  rejected: ReadonlyMap<string, string> = new Map();
  /** what the plan leaves out, with the reasons */
  #leftOut: readonly string[] = [];
  #hasPlan = false;

  constructor({ log, applied, users, desired }: Needs) {
    this.#log = log;
    this.#applied = applied;
    this.#users = users;
    this.#desired = desired;
  }

  /** Parts that the core does not run, with the reasons. */
  problems(): string[] {
    return [...this.#leftOut, ...[...this.rejected].map(([tag, reason]) => `${tag}: ${reason}`)];
  }
  /** Makes the next change put this inbound, even if the core already runs it. */
  suspect(inboundId: number): void {
    const tag = this.planned.get(inboundId)?.tag;
    if (tag !== undefined && tag in this.#applied.digests.inbounds) this.#applied.suspectInbound(tag);
  }
  forgetRejected(): void {
    this.rejected = new Map();
  }

  get hasPlan(): boolean {
    return this.#hasPlan;
  }

  setPlan(plan: Plan): void {
    this.#hasPlan = true;
    this.planned = new Map([...plan.inbounds.values()].map((inbound) => [inbound.id, inbound]));
    this.noteLeftOut(plan);
  }

  /** Shows and logs what the plan leaves out, also before it is applied. */
  noteLeftOut({ leftOut }: Plan): void {
    for (const reason of leftOut)
      if (!this.#leftOut.includes(reason))
        this.#log.error('a part of the config is left out of the core', { reason });
    this.#leftOut = leftOut;
  }

  /** Whether some parts do not run yet and may run later. */
  get isIncomplete(): boolean {
    return this.rejected.size + this.#leftOut.length > 0;
  }

  readonly withUsers = (inbound: PlannedInbound): InboundWithUsers => {
    const { tag, protocol, config, users } = inbound;
    return { tag, protocol, config, users: users ?? this.#desired.valid(inbound) };
  };

  /** Marks users of the running inbounds for comparison; the digest covers those in a config. */
  markUsers(): void {
    for (const { tag, id, users } of this.planned.values())
      if (!users && tag in this.#applied.digests.inbounds) this.#users.mark(id);
  }

  /** Whether the core should have this user. */
  wants(user: UserRef): boolean {
    return this.planned.has(user.inboundId) && !this.#desired.isGone(user);
  }

  /** Removes and puts inbounds that differ. Those that the core rejects are noted in `rejected` and delay no others. */
  async change(driver: CoreDriver, plan: Plan): Promise<void> {
    const { put, remove } = difference(plan, this.#applied.digests);
    for (const tag of remove) {
      await this.#users.queues.run(tag, () => driver.removeInbound(tag));
      await this.#remember(driver, tag, undefined);
    }
    const before = this.rejected;
    const rejected = new Map<string, string>();
    this.rejected = rejected;
    for (const inbound of put) {
      const { tag, digest, plugin } = inbound;
      // An empty digest means "unknown": after a crash here the next panel puts the inbound again.
      await this.#remember(driver, tag, '');
      try {
        await this.#users.queues.run(tag, () => driver.putInbound(this.withUsers(inbound)));
        await this.#remember(driver, tag, digest);
      } catch (error) {
        if (!(error instanceof CoreRefused)) throw error;
        rejected.set(tag, error.message);
        if (before.get(tag) !== error.message)
          this.#log.error('the core rejected an inbound; retrying until it is accepted', {
            tag,
            ...(plugin !== undefined && { of: plugin }),
            reason: error.message,
          });
      }
    }
  }

  async #remember(driver: CoreDriver, tag: string, digest: string | undefined): Promise<void> {
    const { [tag]: _old, ...others } = this.#applied.digests.inbounds;
    await this.#applied.remember(driver, {
      inbounds: digest === undefined ? others : { ...others, [tag]: digest },
    });
  }
}
