// Reconciles the core's users. Each step reads the current desired state and updates the core to match, so a step that is
// repeated, late or run after a crash gives the same result.
import { type Hooks, KeyedQueue, type Log, messageOf, TimeSlice } from '../../../kernel/index.js';
import { type Applied, DONE, type UserRef, userName, userOf, usersRemoved } from '../contract.js';
import type { DesiredUsers } from './desired-users.js';
import { type CoreDriver, CoreRefused, CoreUnreachable, type CoreUser } from '../driver.js';
import type { InboundIdentity } from '../config/plan.js';

/** Calls to the core in one turn of the event loop; each takes about 0.3 ms. */
const AT_ONCE = 16;

/** Returns the reason of a rejected account, which must not delay others; throws when the core is gone. */
const rejection = (user: CoreUser, error: unknown): string => {
  if (!(error instanceof CoreRefused)) throw error;
  return `${user.name}: ${error.message}`;
};

/** Some calls at a time, with a turn of the event loop between; rejects with the first failure, once no call runs. */
async function each<T>(items: readonly T[], call: (item: T) => Promise<void>): Promise<void> {
  const slice = new TimeSlice();
  for (let at = 0; at < items.length; at += AT_ONCE) {
    if (at > 0) await slice.next();
    const outcomes = await Promise.allSettled(items.slice(at, at + AT_ONCE).map(call));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }
}

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

/** The inbounds that the core should run, by id. */
type Inbounds = ReadonlyMap<number, InboundIdentity>;

export class UserReconciler {
  readonly #log: Log;
  readonly #hooks: Hooks;
  readonly #desired: DesiredUsers;
  /** Users of one inbound change one after another, together with the inbound itself. */
  readonly queues = new KeyedQueue<string>();
  /** Ids of inbounds whose users in the core may differ from the desired ones. */
  readonly #marked = new Set<number>();

  constructor({ log, hooks, desired }: { log: Log; hooks: Hooks; desired: DesiredUsers }) {
    this.#log = log;
    this.#hooks = hooks;
    this.#desired = desired;
  }

  /** Inbounds whose users must be compared, or put again with their config. */
  get marked(): ReadonlySet<number> {
    return this.#marked;
  }
  mark(inboundId: number): void {
    this.#marked.add(inboundId);
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
    for (const inboundId of this.#marked) {
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

  /** Compares all users of an inbound with the desired state; for starts, and after failures. */
  async compare(driver: CoreDriver, inbound: InboundIdentity): Promise<void> {
    const { tag, id: inboundId, protocol } = inbound;
    return this.queues.run(tag, async () => {
      try {
        const running = new Map((await driver.users(tag, protocol)).map((user) => [user.name, user]));
        // Read all at once: later changes wait in the queue. None of the 100,000 is held longer than it takes to compare it.
        const missing: CoreUser[] = [];
        for (const user of this.#desired.valid(inbound)) {
          if (sameAccount(running.get(user.name), user)) running.delete(user.name);
          else missing.push(user);
        }
        const changing = new Set(missing.map(({ name }) => name));
        const surplus = [...running.keys()].filter((name) => !changing.has(name));
        await each(surplus, (name) => driver.removeUser(tag, name));
        if (surplus.length > 0) this.#removed(surplus.flatMap((name) => userOf(name) ?? []));
        const rejected: string[] = [];
        const put = async (user: CoreUser): Promise<void> => {
          await driver.putUser(tag, user).catch((error: unknown) => rejected.push(rejection(user, error)));
        };
        await each(missing, put);
        await each(this.#heirs(inbound, running), put);
        const changed = surplus.length + missing.length - rejected.length;
        if (changed > 0) this.#log.info('reconciled users of an inbound', { tag, changed });
        // Rejected users are not retried again: their next change is reported by its own call.
        this.#marked.delete(inboundId);
        if (rejected.length === 0) return;
        this.#log.error('the core rejected users of an inbound', {
          tag,
          count: rejected.length,
          first: rejected[0],
        });
      } catch (error) {
        this.#failed(tag, inboundId, error);
      }
    });
  }

  /** Users with an account that the core has just taken from another: it forgets the secret with any of its users. */
  #heirs(inbound: InboundIdentity, taken: ReadonlyMap<string, CoreUser>): CoreUser[] {
    if (taken.size === 0) return [];
    const accounts = new Set([...taken.values()].map(accountText));
    return [...this.#desired.valid(inbound)].filter((user) => accounts.has(accountText(user)));
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
    this.#marked.add(inboundId);
    return { pending: true, reason: messageOf(error) };
  }
}
