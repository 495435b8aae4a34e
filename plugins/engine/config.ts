// What the running core runs, and how it is brought to a plan. Like the users: every step may be repeated or come late.
import type { Log } from '../../kernel/index.js';
import type { UserRef } from './contract.js';
import { type CoreDriver, type CoreInbound, type CoreRecord, CoreRefused, type CoreUser } from './driver.js';
import { difference, type Plan, type PlannedInbound } from './plan.js';
import type { UserReconciler } from './users.js';

export class ConfigReconciler {
  readonly #log: Log;
  readonly #users: UserReconciler;
  /** of the running core, as it is written beside it */
  record: CoreRecord = { base: '', inbounds: {} };
  /** inbounds that the core should run, by id */
  inbounds: ReadonlyMap<number, PlannedInbound> = new Map();
  /** inbounds that the core does not take, by tag, with its reason */
  refused: ReadonlyMap<string, string> = new Map();
  /** what the plan leaves out of the core, with the reasons */
  #keptOut: readonly string[] = [];
  #refusedBase = '';
  #planned = false;

  constructor(log: Log, users: UserReconciler) {
    this.#log = log;
    this.#users = users;
  }

  /** What the running core does not run of the plan, and why. */
  refusals(): string[] {
    return [
      ...(this.#refusedBase ? [this.#refusedBase] : []),
      ...this.#keptOut,
      ...[...this.refused].map(([tag, reason]) => `${tag}: ${reason}`),
    ];
  }
  /** The next change puts this inbound, whatever the core runs of it. */
  suspect(inboundId: number): void {
    const tag = this.inbounds.get(inboundId)?.tag;
    if (tag !== undefined && tag in this.record.inbounds)
      this.record = { ...this.record, inbounds: { ...this.record.inbounds, [tag]: '' } };
  }
  forgetRefusals(): void {
    this.refused = new Map();
    this.#refusedBase = '';
  }

  /** Whether it is known at all what the core should run. */
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

  /** Whether something of the plan does not run that may run later. */
  get incomplete(): boolean {
    return this.refused.size + this.#keptOut.length > 0;
  }

  readonly withUsers = (inbound: PlannedInbound): CoreInbound & { readonly users: Iterable<CoreUser> } => {
    const { tag, protocol, config, users } = inbound;
    return { tag, protocol, config, users: users ?? this.#users.fitting(inbound) };
  };

  /** Users of the running inbounds have to be compared; those in a config stand in its digest. */
  suspectUsers(): void {
    for (const { tag, id, users } of this.inbounds.values())
      if (!users && tag in this.record.inbounds) this.#users.dirty.add(id);
  }

  /** Whether the core should have this user. */
  has(ref: UserRef): boolean {
    return this.inbounds.has(ref.inboundId) && this.#users.one(ref) !== undefined;
  }

  /** Only another base needs one. A base that the core refuses must not end the core that runs: its inbounds and users are followed all the same. */
  async needsRestart(driver: CoreDriver, { base, baseDigest }: Plan): Promise<boolean> {
    const former = this.#refusedBase;
    this.#refusedBase = '';
    if (baseDigest === this.record.base) return false;
    try {
      await driver.test(base, []);
      return true;
    } catch (error) {
      if (!(error instanceof CoreRefused)) throw error;
      this.#refusedBase = error.message;
      if (former !== error.message)
        this.#log.error('the core refused a change of its config and goes on with the former one', {
          reason: error.message,
        });
      return false;
    }
  }

  /** Removes and puts what differs. What the core refuses is kept in `refused` and holds up no other. */
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
      // An empty digest beside the core says "perhaps": after a crash here the next panel puts the inbound again.
      await this.#remember(driver, tag, '');
      try {
        await this.#users.queues.run(tag, () => driver.putInbound(this.withUsers(inbound)));
        await this.#remember(driver, tag, digest);
      } catch (error) {
        if (!(error instanceof CoreRefused)) throw error;
        refused.set(tag, error.message);
        if (before.get(tag) !== error.message)
          this.#log.error('the core refused an inbound; it is tried again until it is taken', {
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
