// Keeps the core's users as they should be. Every step asks for the present truth and makes the core agree, so steps may
// be repeated, may come late and may follow a crash: the end is the same.
import { KeyedQueue, messageOf, type Log, TimeSlice } from '../../kernel/index.js';
import { type Applied, type CoreUserSource, type UserRef, userName, userOf } from './contract.js';
import { type CoreDriver, CoreRefused, CoreUnreachable, type CoreUser, type UserCounter } from './driver.js';

/** Calls to the core in one turn of the event loop; each takes about 0.3 ms of it. */
const AT_ONCE = 16;
export const DONE: Applied = { pending: false, reason: '' };

/** One bad account must not keep all others waiting; a core that is gone ends it all. */
const refusal = (user: CoreUser, error: unknown): string => {
  if (!(error instanceof CoreRefused)) throw error;
  return `${user.name}: ${error.message}`;
};

const sameAccount = (a: CoreUser | undefined, b: CoreUser): boolean => {
  if (!a) return false;
  const keys = new Set([...Object.keys(a.account), ...Object.keys(b.account)]);
  return [...keys].every((key) => (a.account[key] ?? '') === (b.account[key] ?? ''));
};

/** Counters of users; what else the core counts is left out. */
export const ofUsers = (counters: readonly UserCounter[]) =>
  counters.flatMap(({ name, up, down }) => {
    const ref = userOf(name);
    return ref ? [{ ...ref, up, down }] : [];
  });

export class UserReconciler {
  readonly #log: Log;
  readonly #sources: () => readonly CoreUserSource[];
  readonly #removed: (users: readonly UserRef[]) => void;
  /** Users of one inbound change one after another, together with the inbound itself. */
  readonly queues = new KeyedQueue<string>();
  /** Ids of inbounds whose users may differ from what they should be. */
  readonly dirty = new Set<number>();

  /** @param removed hears of users that the core has given up */
  constructor(
    log: Log,
    sources: () => readonly CoreUserSource[],
    removed: (users: readonly UserRef[]) => void,
  ) {
    this.#log = log;
    this.#sources = sources;
    this.#removed = removed;
  }

  *all(inboundId: number): Iterable<CoreUser> {
    for (const source of this.#sources()) yield* source.users(inboundId);
  }

  /** What a user should be now; undefined for one that should be none. */
  one(ref: UserRef): CoreUser | undefined {
    for (const source of this.#sources()) {
      const user = source.user(ref);
      if (user) return user;
    }
    return undefined;
  }

  /** Adds, replaces or removes these users, of any inbounds. */
  async applyAll(
    driver: CoreDriver,
    tags: ReadonlyMap<number, string>,
    users: readonly UserRef[],
  ): Promise<Applied> {
    const byInbound = new Map<number, UserRef[]>();
    for (const ref of users) {
      const refs = byInbound.get(ref.inboundId);
      if (refs) refs.push(ref);
      else byInbound.set(ref.inboundId, [ref]);
    }
    const applied = await Promise.all(
      [...byInbound].map(async ([inboundId, refs]) => {
        const tag = tags.get(inboundId);
        return tag === undefined ? DONE : this.apply(driver, tag, inboundId, refs);
      }),
    );
    return applied.find(({ pending }) => pending) ?? DONE;
  }

  /** Compares the inbounds that are suspect. */
  async compareDirty(driver: CoreDriver, tags: ReadonlyMap<number, string>): Promise<void> {
    for (const inboundId of this.dirty) {
      const tag = tags.get(inboundId);
      if (tag === undefined) this.dirty.delete(inboundId);
      else await this.compare(driver, tag, inboundId);
    }
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
        // Inbounds change at the same time: their calls take turns.
        if (refs.length > AT_ONCE) await slice.next();
        const gone: UserRef[] = [];
        const outcomes = await Promise.allSettled(
          refs.slice(at, at + AT_ONCE).map(async (ref) => {
            const user = this.one(ref);
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

  /** Compares all users of an inbound with what they should be; for starts, and after anything that failed. */
  async compare(driver: CoreDriver, tag: string, inboundId: number): Promise<Applied> {
    return this.queues.run(tag, async () => {
      try {
        const running = new Map((await driver.users(tag)).map((user) => [user.name, user]));
        // All at once: what changes from here on waits in the queue behind us.
        const wanted = [...this.all(inboundId)];
        const missing = wanted.filter((user) => !sameAccount(running.get(user.name), user));
        const names = new Set(wanted.map(({ name }) => name));
        const surplus = [...running.keys()].filter((name) => !names.has(name));
        for (const name of surplus) await driver.removeUser(tag, name);
        if (surplus.length > 0) this.#removed(surplus.flatMap((name) => userOf(name) ?? []));
        const refused: string[] = [];
        for (const user of missing)
          await driver.putUser(tag, user).catch((error: unknown) => refused.push(refusal(user, error)));
        const changed = surplus.length + missing.length - refused.length;
        if (changed > 0) this.#log.info('users of an inbound brought up to date', { tag, changed });
        // Asking again would not help those who were refused: a change of them is told by itself.
        this.dirty.delete(inboundId);
        if (refused.length === 0) return DONE;
        this.#log.error('the core refused users of an inbound', {
          tag,
          count: refused.length,
          first: refused[0],
        });
        return { pending: true, reason: refused[0] ?? '' };
      } catch (error) {
        return this.#failed(tag, inboundId, error);
      }
    });
  }

  #failed(tag: string, inboundId: number, error: unknown): Applied {
    // Said once, however often it is tried.
    if (!this.dirty.has(inboundId))
      this.#log[error instanceof CoreUnreachable ? 'warn' : 'error'](
        'the core did not take a change of users; it will be tried again',
        {
          tag,
          reason: messageOf(error),
        },
      );
    this.dirty.add(inboundId);
    return { pending: true, reason: messageOf(error) };
  }
}
