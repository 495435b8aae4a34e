// What the running core runs, and how its inbounds are reconciled with a plan. As with users, each step may be repeated
// or late.
import type { Log } from '../../kernel/index.js';
import type { UserRef } from './contract.js';
import type { DesiredUsers } from './desired-users.js';
import { type AppliedDigests, type CoreDriver, CoreRefused, type InboundWithUsers } from './driver.js';
import { difference, type Plan, type PlannedInbound } from './plan.js';
import type { UserReconciler } from './user-reconciler.js';

interface Needs {
  readonly log: Log;
  readonly users: UserReconciler;
  readonly desired: DesiredUsers;
}

export class InboundReconciler {
  readonly #log: Log;
  readonly #users: UserReconciler;
  readonly #desired: DesiredUsers;
  /** of what the running core runs, as stored in core.json */
  digests: AppliedDigests = { base: '', inbounds: {} };
  /** inbounds that the core should run, by id */
  planned: ReadonlyMap<number, PlannedInbound> = new Map();
  /** inbounds that the core rejects, by tag, with the reason */
  rejected: ReadonlyMap<string, string> = new Map();
  /** what the plan leaves out, with the reasons */
  #leftOut: readonly string[] = [];
  #rejectedBase = '';
  #hasPlan = false;

  constructor({ log, users, desired }: Needs) {
    this.#log = log;
    this.#users = users;
    this.#desired = desired;
  }

  /** Parts that the core does not run, with the reasons. */
  problems(): string[] {
    return [
      ...(this.#rejectedBase ? [this.#rejectedBase] : []),
      ...this.#leftOut,
      ...[...this.rejected].map(([tag, reason]) => `${tag}: ${reason}`),
    ];
  }
  /** Makes the next change put this inbound, even if the core already runs it. */
  suspect(inboundId: number): void {
    const tag = this.planned.get(inboundId)?.tag;
    if (tag !== undefined && tag in this.digests.inbounds)
      this.digests = { ...this.digests, inbounds: { ...this.digests.inbounds, [tag]: '' } };
  }
  forgetRejected(): void {
    this.rejected = new Map();
    this.#rejectedBase = '';
  }

  get hasPlan(): boolean {
    return this.#hasPlan;
  }

  /** @param digests of what the core runs now */
  setPlan(plan: Plan, digests: AppliedDigests): void {
    this.#hasPlan = true;
    this.digests = digests;
    this.planned = new Map([...plan.inbounds.values()].map((inbound) => [inbound.id, inbound]));
    for (const reason of plan.leftOut)
      if (!this.#leftOut.includes(reason))
        this.#log.error('a part of the config is left out of the core', { reason });
    this.#leftOut = plan.leftOut;
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
      if (!users && tag in this.digests.inbounds) this.#users.mark(id);
  }

  /** Whether the core should have this user. */
  wants(user: UserRef): boolean {
    return this.planned.has(user.inboundId) && !this.#desired.isGone(user);
  }

  /** Has the core test a new base. If it rejects it, the running core must stay, with its inbounds and users up to date. */
  async testNewBase(
    driver: CoreDriver,
    { base, baseDigest }: Plan,
  ): Promise<'same' | 'accepted' | 'rejected'> {
    const previous = this.#rejectedBase;
    this.#rejectedBase = '';
    if (baseDigest === this.digests.base) return 'same';
    try {
      await driver.test(base, []);
      return 'accepted';
    } catch (error) {
      if (!(error instanceof CoreRefused)) throw error;
      this.#rejectedBase = error.message;
      if (previous !== error.message)
        this.#log.error('the core rejected the config and keeps the previous one', {
          reason: error.message,
        });
      return 'rejected';
    }
  }

  /** Removes and puts inbounds that differ. Those that the core rejects are noted in `rejected` and delay no others. */
  async change(driver: CoreDriver, plan: Plan): Promise<void> {
    const { put, remove } = difference(plan, this.digests);
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
    const { [tag]: _old, ...others } = this.digests.inbounds;
    this.digests = {
      base: this.digests.base,
      inbounds: digest === undefined ? others : { ...others, [tag]: digest },
    };
    await driver.remember(this.digests);
  }
}
