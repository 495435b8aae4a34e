// Reconciles the core's users. Each step reads the current desired state and updates the core to match, so a step that is
// repeated, late or run after a crash gives the same result.
import { type Hooks, KeyedQueue, type Log, messageOf, TimeSlice } from '../../../kernel/index.js';
import { type Applied, DONE, type UserRef, userName, userOf, usersRemoved } from '../contract.js';
import type { DesiredUsers } from './desired-users.js';
import { type CoreDriver, CoreRefused, CoreUnreachable, type CoreUser } from '../driver.js';
import type { InboundIdentity } from '../config/plan.js';

/** Calls to the core in one turn of the event loop; each takes about 0.3 ms. */
const AT_ONCE = 16;

const sameAccount = (a: CoreUser | undefined, b: CoreUser): boolean => {
  if (!a) return false;
  const isSame = (key: string): boolean => (a.account[key] ?? '') === (b.account[key] ?? '');
  return Object.keys(a.account).every(isSame) && Object.keys(b.account).every(isSame);
};

/** The same for equal accounts; what is empty counts as absent. */
const accountText = ({ account }: CoreUser): string =>
  JSON.stringify(
    Object.entries(account)
      .filter(([, value]) => (value ?? '') !== '')
      .sort(),
  );

/** What a comparison has done so far. */
interface Comparison {
  readonly driver: CoreDriver;
  readonly inbound: InboundIdentity;
  changed: number;
  readonly rejected: string[];
}

/** The inbounds that the core should run, by id. */
type Inbounds = ReadonlyMap<number, InboundIdentity>;

export class UserReconciler {
  readonly #log: Log;
  readonly #hooks: Hooks;
  readonly #desired: DesiredUsers;
  /** Users of one inbound change one after another, together with the inbound itself. */
  readonly queues = new KeyedQueue<string>();
  /** Inbounds whose users in the core may differ from the desired ones, by id; each failure makes another mark. */
  readonly #marked = new Map<number, object>();

  constructor({ log, hooks, desired }: { log: Log; hooks: Hooks; desired: DesiredUsers }) {
    this.#log = log;
    this.#hooks = hooks;
    this.#desired = desired;
  }

  /** Inbounds whose users must be compared, or put again with their config. */
  get marked(): ReadonlySet<number> {
    return new Set(this.#marked.keys());
  }
  isMarked(inboundId: number): boolean {
    return this.#marked.has(inboundId);
  }
  mark(inboundId: number): void {
    this.#marked.set(inboundId, {});
  }
  /** For inbounds that get all their desired users in another way. */
  unmark(inboundIds: Iterable<number>): void {
    for (const inboundId of inboundIds) this.#marked.delete(inboundId);
  }

  /** The core has removed these users. */
  #removed(users: readonly UserRef[]): void {
    this.#hooks.emit(usersRemoved, { users });
  }

  /** Emits usersRemoved for those of these that are no longer users; call it after the core has the others. */
  emitRemoved(users: readonly UserRef[]): void {
    const gone = users.filter((ref) => this.#desired.isGone(ref));
    if (gone.length > 0) this.#removed(gone);
  }

  /** Adds, replaces or removes these users, of any inbounds. */
  async applyAll(driver: CoreDriver, inbounds: Inbounds, users: readonly UserRef[]): Promise<Applied> {
    const byInbound = new Map<number, UserRef[]>();
    for (const ref of users) {
      const refs = byInbound.get(ref.inboundId);
      if (refs) refs.push(ref);
      else byInbound.set(ref.inboundId, [ref]);
    }
    const applied = await Promise.all(
      [...byInbound].map(async ([inboundId, refs]) => {
        const tag = inbounds.get(inboundId)?.tag;
        return tag === undefined ? DONE : this.apply(driver, tag, inboundId, refs);
      }),
    );
    return applied.find(({ pending }) => pending) ?? DONE;
  }

  /** Adds, replaces or removes these users of one inbound, a portion after the other: other calls get their turn between them. */
  async apply(
    driver: CoreDriver,
    tag: string,
    inboundId: number,
    refs: readonly UserRef[],
  ): Promise<Applied> {
    const slice = new TimeSlice();
    for (let at = 0; at < refs.length; at += AT_ONCE) {
      // Several inbounds may change at the same time: yield between their calls.
      if (refs.length > AT_ONCE) await slice.next();
      const portion = refs.slice(at, at + AT_ONCE);
      const applied = await this.queues.run(tag, () => this.#applyPortion(driver, tag, inboundId, portion));
      if (applied.pending) return applied;
    }
    return DONE;
  }

  async #applyPortion(
    driver: CoreDriver,
    tag: string,
    inboundId: number,
    refs: readonly UserRef[],
  ): Promise<Applied> {
    const gone: UserRef[] = [];
    const outcomes = await Promise.allSettled(
      refs.map(async (ref) => {
        const user = this.#desired.one(ref);
        if (user) return driver.putUser(tag, user);
        await driver.removeUser(tag, userName(ref));
        gone.push(ref);
      }),
    );
    if (gone.length > 0) this.#removed(gone);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    return failed ? this.#failed(tag, inboundId, failed.reason) : DONE;
  }

  /** Compares the users of marked inbounds. */
  async compareMarked(driver: CoreDriver, inbounds: Inbounds): Promise<void> {
    for (const inboundId of this.marked) {
      const inbound = inbounds.get(inboundId);
      if (inbound === undefined) this.#marked.delete(inboundId);
      else await this.compare(driver, inbound);
    }
  }

  /** Names of users that the core has in vain, lacks, or has with another account. Changes nothing. */
  async differences(driver: CoreDriver, inbound: InboundIdentity) {
    return this.queues.run(inbound.tag, async () => {
      const running = new Map(
        (await driver.users(inbound.tag, inbound.protocol)).map((user) => [user.name, user]),
      );
      const slice = new TimeSlice();
      const found: { readonly name: string; readonly how: 'missing' | 'surplus' | 'different' }[] = [];
      const names = new Set<string>();
      for (const user of [...this.#desired.valid(inbound)]) {
        if (slice.isOver) await slice.next();
        names.add(user.name);
        const there = running.get(user.name);
        if (!there) found.push({ name: user.name, how: 'missing' });
        else if (!sameAccount(there, user)) found.push({ name: user.name, how: 'different' });
      }
      for (const name of running.keys()) if (!names.has(name)) found.push({ name, how: 'surplus' });
      return found;
    });
  }

  /**
   * Compares all users of an inbound with the desired state, for starts and after failures. Changes are made a portion after
   * the other, by the desired state of that moment: 100,000 missing users take a minute, and single changes do not wait for them.
   */
  async compare(driver: CoreDriver, inbound: InboundIdentity): Promise<void> {
    const { tag, id: inboundId } = inbound;
    const mark = this.#marked.get(inboundId);
    const comparison: Comparison = { driver, inbound, changed: 0, rejected: [] };
    try {
      const { surplus, missing, taken } = await this.queues.run(tag, () => this.#read(driver, inbound));
      await this.#eachInTurn(tag, surplus, (name) => this.#removeSurplus(comparison, name));
      await this.#eachInTurn(tag, missing, (name) => this.#putMissing(comparison, name));
      const heirs = await this.#heirs(inbound, taken);
      const { changed } = comparison;
      await this.#eachInTurn(tag, heirs, (name) => this.#putMissing(comparison, name));
      if (changed > 0) this.#log.info('reconciled users of an inbound', { tag, changed });
      // A change that failed meanwhile has made another mark. Rejected users are not retried again: their next change is reported by its own call.
      if (this.#marked.get(inboundId) === mark) this.#marked.delete(inboundId);
    } catch (error) {
      this.#failed(tag, inboundId, error);
    }
    const { rejected } = comparison;
    if (rejected.length > 0)
      this.#log.error('the core rejected users of an inbound', {
        tag,
        count: rejected.length,
        first: rejected[0],
      });
  }

  /** Names of users that the core has in vain, or lacks, and what it runs in place of the desired accounts. */
  async #read(driver: CoreDriver, inbound: InboundIdentity) {
    const taken = new Map(
      (await driver.users(inbound.tag, inbound.protocol)).map((user) => [user.name, user]),
    );
    const missing = new Set<string>();
    // None of the 100,000 is held longer than it takes to compare it.
    for (const user of this.#desired.valid(inbound)) {
      if (sameAccount(taken.get(user.name), user)) taken.delete(user.name);
      else missing.add(user.name);
    }
    return { missing: [...missing], surplus: [...taken.keys()].filter((name) => !missing.has(name)), taken };
  }

  /** Some calls at a time; the queue of the inbound and the event loop turn between. Rejects with the first failure. */
  async #eachInTurn(
    tag: string,
    names: readonly string[],
    call: (name: string) => Promise<void>,
  ): Promise<void> {
    const slice = new TimeSlice();
    for (let at = 0; at < names.length; at += AT_ONCE) {
      if (at > 0) await slice.next();
      const portion = names.slice(at, at + AT_ONCE);
      const outcomes = await this.queues.run(tag, () => Promise.allSettled(portion.map(call)));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  async #removeSurplus(comparison: Comparison, name: string): Promise<void> {
    const { driver, inbound } = comparison;
    const ref = userOf(name);
    if (ref && this.#desired.validOne(ref, inbound)) return;
    await driver.removeUser(inbound.tag, name);
    comparison.changed += 1;
    if (ref) this.#removed([ref]);
  }

  async #putMissing(comparison: Comparison, name: string): Promise<void> {
    const { driver, inbound, rejected } = comparison;
    const ref = userOf(name);
    const user = ref && this.#desired.validOne(ref, inbound);
    if (!user) return;
    try {
      await driver.putUser(inbound.tag, user);
      comparison.changed += 1;
    } catch (error) {
      // A rejected account must not delay others; without the core there is nothing to do.
      if (!(error instanceof CoreRefused)) throw error;
      rejected.push(`${name}: ${error.message}`);
    }
  }

  /** Names of users with an account that the core has just taken from another: it forgets the secret with any of its users. */
  async #heirs(inbound: InboundIdentity, taken: ReadonlyMap<string, CoreUser>): Promise<string[]> {
    if (taken.size === 0) return [];
    const accounts = new Set([...taken.values()].map(accountText));
    const slice = new TimeSlice();
    const names: string[] = [];
    for (const user of this.#desired.valid(inbound)) {
      if (accounts.has(accountText(user))) names.push(user.name);
      if (slice.isOver) await slice.next();
    }
    return names;
  }

  #failed(tag: string, inboundId: number, error: unknown): Applied {
    // Logged once per series of retries.
    if (!this.#marked.has(inboundId))
      this.#log[error instanceof CoreUnreachable ? 'warn' : 'error'](
        'the core did not accept a change of users; retrying',
        {
          tag,
          reason: messageOf(error),
        },
      );
    this.mark(inboundId);
    return { pending: true, reason: messageOf(error) };
  }
}
