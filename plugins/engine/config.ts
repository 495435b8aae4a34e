// What the running core runs, and how it is reconciled with a plan. As with users, each step may be repeated or late.
import type { Log } from '../../kernel/index.js';
import type { UserRef } from './contract.js';
import { type CoreDriver, type CoreInbound, type CoreRecord, CoreRefused, type CoreUser } from './driver.js';
import { difference, type Plan, type PlannedInbound } from './plan.js';
import type { UserReconciler } from './users.js';

export class ConfigReconciler {
  readonly #log: Log;
  readonly #users: UserReconciler;
  /** of the running core, as stored in core.json */
  record: CoreRecord = { base: '', inbounds: {} };
  /** inbounds that the core should run, by id */
  inbounds: ReadonlyMap<number, PlannedInbound> = new Map();
  /** inbounds that the core rejects, by tag, with the reason */
  refused: ReadonlyMap<string, string> = new Map();
  /** what the plan leaves out of the core, with the reasons */
  #keptOut: readonly string[] = [];
  #refusedBase = '';
  #planned = false;

  constructor(log: Log, users: UserReconciler) {
    this.#log = log;
    this.#users = users;
  }

  /** Parts of the plan that the core does not run, with the reasons. */
  refusals(): string[] {
    return [
      ...(this.#refusedBase ? [this.#refusedBase] : []),
      ...this.#keptOut,
      ...[...this.refused].map(([tag, reason]) => `${tag}: ${reason}`),
    ];
  }
  /** Makes the next change put this inbound, even if the core already runs it. */
  suspect(inboundId: number): void {
    const tag = this.inbounds.get(inboundId)?.tag;
    if (tag !== undefined && tag in this.record.inbounds)
      this.record = { ...this.record, inbounds: { ...this.record.inbounds, [tag]: '' } };
  }
  forgetRefusals(): void {
    this.refused = new Map();
    this.#refusedBase = '';
  }

  /** Whether there is a plan yet. */
  get planned(): boolean {
    return this.#planned;
  }

  took(plan: Plan, record: CoreRecord): void {
    this.#planned = true;
    this.record = record;
    this.inbounds = new Map([...plan.inbounds.values()].map((inbound) => [inbound.id, inbound]));
    for (const reason of plan.keptOut)
      if (!this.#keptOut.includes(reason))
        this.#log.error('a part of the config is kept out of the core', { reason });
    this.#keptOut = plan.keptOut;
  }

  /** Whether parts of the plan do not run yet and may run later. */
  get incomplete(): boolean {
    return this.refused.size + this.#keptOut.length > 0;
  }

  readonly withUsers = (inbound: PlannedInbound): CoreInbound & { readonly users: Iterable<CoreUser> } => {
    const { tag, protocol, config, users } = inbound;
    return { tag, protocol, config, users: users ?? this.#users.fitting(inbound) };
  };

  /** Marks users of the running inbounds for comparison; the digest covers those in a config. */
  suspectUsers(): void {
    for (const { tag, id, users } of this.inbounds.values())
      if (!users && tag in this.record.inbounds) this.#users.dirty.add(id);
  }

  /** Whether the core should have this user. */
  wants(user: UserRef): boolean {
    return this.inbounds.has(user.inboundId) && this.#users.one(user) !== undefined;
  }

  /** Only another base needs a restart. If the core rejects the base, the running core must stay, with its inbounds and users up to date. */
  async needsRestart(driver: CoreDriver, { base, baseDigest }: Plan): Promise<boolean> {
    const previous = this.#refusedBase;
    this.#refusedBase = '';
    if (baseDigest === this.record.base) return false;
    try {
      await driver.test(base, []);
      return true;
    } catch (error) {
      if (!(error instanceof CoreRefused)) throw error;
      this.#refusedBase = error.message;
      if (previous !== error.message)
        this.#log.error('the core rejected the config and keeps the previous one', {
          reason: error.message,
        });
      return false;
    }
  }

  /** Removes and puts inbounds that differ. Those that the core rejects are noted in `refused` and delay no others. */
  async change(driver: CoreDriver, plan: Plan): Promise<void> {
    const { put, remove } = difference(plan, this.record);
    for (const tag of remove) {
      await this.#users.queues.run(tag, () => driver.removeInbound(tag));
      await this.#remember(driver, tag, undefined);
    }
    const before = this.refused;
    const refused = new Map<string, string>();
    this.refused = refused;
    for (const inbound of put) {
      const { tag, digest, plugin } = inbound;
      // An empty digest in the record means "unknown": after a crash here the next panel puts the inbound again.
      await this.#remember(driver, tag, '');
      try {
        await this.#users.queues.run(tag, () => driver.putInbound(this.withUsers(inbound)));
        await this.#remember(driver, tag, digest);
      } catch (error) {
        if (!(error instanceof CoreRefused)) throw error;
        refused.set(tag, error.message);
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
    const { [tag]: _old, ...others } = this.record.inbounds;
    this.record = {
      base: this.record.base,
      inbounds: digest === undefined ? others : { ...others, [tag]: digest },
    };
    await driver.remember(this.record);
  }
}
