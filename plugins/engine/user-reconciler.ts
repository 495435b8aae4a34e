// Reconciles the core's users. Each step reads the current desired state and updates the core to match, so a step that is
// repeated, late or run after a crash gives the same result.
import { type Hooks, KeyedQueue, type Log, messageOf, TimeSlice } from '../../kernel/index.js';
import { type Applied, DONE, type UserRef, userName, userOf, usersRemoved } from './contract.js';
import type { DesiredUsers } from './desired-users.js';
import { type CoreDriver, CoreRefused, CoreUnreachable, type CoreUser } from './driver.js';
import type { InboundIdentity } from './plan.js';

/** Calls to the core in one turn of the event loop; each takes about 0.3 ms. */
const AT_ONCE = 16;

/** Returns the reason of a rejected account, which must not delay others; throws when the core is gone. */
const rejection = (user: CoreUser, error: unknown): string => {
  if (!(error instanceof CoreRefused)) throw error;
  return `${user.name}: ${error.message}`;
};

const sameAccount = (a: CoreUser | undefined, b: CoreUser): boolean => {
  if (!a) return false;
  const keys = new Set([...Object.keys(a.account), ...Object.keys(b.account)]);
  return [...keys].every((key) => (a.account[key] ?? '') === (b.account[key] ?? ''));
};

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

  /** Adds, replaces or removes these users of one inbound. */
  async apply(
    driver: CoreDriver,
    tag: string,
    inboundId: number,
    refs: readonly UserRef[],
  ): Promise<Applied> {
    return this.queues.run(tag, async () => {
      const slice = new TimeSlice();
      for (let at = 0; at < refs.length; at += AT_ONCE) {
        // Several inbounds may change at the same time: yield between their calls.
        if (refs.length > AT_ONCE) await slice.next();
        const gone: UserRef[] = [];
        const outcomes = await Promise.allSettled(
          refs.slice(at, at + AT_ONCE).map(async (ref) => {
            const user = this.#desired.one(ref);
            if (user) return driver.putUser(tag, user);
            await driver.removeUser(tag, userName(ref));
            gone.push(ref);
          }),
        );
        if (gone.length > 0) this.#removed(gone);
        const failed = outcomes.find((outcome) => outcome.status === 'rejected');
        if (failed) return this.#failed(tag, inboundId, failed.reason);
      }
      return DONE;
    });
  }

  /** Compares the users of marked inbounds. */
  async compareMarked(driver: CoreDriver, inbounds: Inbounds): Promise<void> {
    for (const inboundId of this.#marked) {
      const inbound = inbounds.get(inboundId);
      if (inbound === undefined) this.#marked.delete(inboundId);
      else await this.compare(driver, inbound);
    }
  }

  /** Compares all users of an inbound with the desired state; for starts, and after failures. */
  async compare(driver: CoreDriver, inbound: InboundIdentity): Promise<void> {
    const { tag, id: inboundId, protocol } = inbound;
    return this.queues.run(tag, async () => {
      try {
        const running = new Map((await driver.users(tag, protocol)).map((user) => [user.name, user]));
        // Read all at once: later changes wait in the queue.
        const desired = [...this.#desired.valid(inbound)];
        const missing = desired.filter((user) => !sameAccount(running.get(user.name), user));
        const names = new Set(desired.map(({ name }) => name));
        const surplus = [...running.keys()].filter((name) => !names.has(name));
        for (const name of surplus) await driver.removeUser(tag, name);
        if (surplus.length > 0) this.#removed(surplus.flatMap((name) => userOf(name) ?? []));
        const rejected: string[] = [];
        for (const user of missing)
          await driver.putUser(tag, user).catch((error: unknown) => rejected.push(rejection(user, error)));
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
