// Keeps the core's users as they should be. Every step asks for the present truth and makes the core agree, so steps may
// be repeated, may come late and may follow a crash: the end is the same.
import { messageOf, type Log } from '../../kernel/index.js';
import { type Applied, type CoreUserSource, type UserRef, userName } from './contract.js';
import { type CoreDriver, CoreUnreachable, type CoreUser } from './driver.js';
import { Lanes } from './lane.js';

const AT_ONCE = 64;
export const DONE: Applied = { pending: false, reason: '' };

const sameAccount = (a: CoreUser, b: CoreUser): boolean => {
  const keys = new Set([...Object.keys(a.account), ...Object.keys(b.account)]);
  return [...keys].every((key) => (a.account[key] ?? '') === (b.account[key] ?? ''));
};

export class UserReconciler {
  readonly #log: Log;
  readonly #sources: () => readonly CoreUserSource[];
  /** Users of one inbound change one after another, together with the inbound itself. */
  readonly lanes = new Lanes<string>();
  /** Ids of inbounds whose users may differ from what they should be. */
  readonly dirty = new Set<number>();

  constructor(log: Log, sources: () => readonly CoreUserSource[]) {
    this.#log = log;
    this.#sources = sources;
  }

  *all(inboundId: number): Iterable<CoreUser> {
    for (const source of this.#sources()) yield* source.users(inboundId);
  }

  #one(ref: UserRef): CoreUser | undefined {
    for (const source of this.#sources()) {
      const user = source.user(ref);
      if (user) return user;
    }
    return undefined;
  }

  /** Adds, replaces or removes these users of one inbound. */
  async apply(driver: CoreDriver, tag: string, inboundId: number, refs: readonly UserRef[]): Promise<Applied> {
    return this.lanes.run(tag, async () => {
      for (let at = 0; at < refs.length; at += AT_ONCE) {
        const outcomes = await Promise.allSettled(
          refs.slice(at, at + AT_ONCE).map((ref) => {
            const user = this.#one(ref);
            return user ? driver.putUser(tag, user) : driver.removeUser(tag, userName(ref));
          }),
        );
        const failed = outcomes.find((outcome) => outcome.status === 'rejected');
        if (failed) return this.#failed(tag, inboundId, failed.reason);
      }
      return DONE;
    });
  }

  /** Compares all users of an inbound with what they should be; for starts, and after anything that failed. */
  async compare(driver: CoreDriver, tag: string, inboundId: number): Promise<Applied> {
    return this.lanes.run(tag, async () => {
      try {
        const running = new Map((await driver.users(tag)).map((user) => [user.name, user]));
        let changed = 0;
        for (const user of this.all(inboundId)) {
          const now = running.get(user.name);
          running.delete(user.name);
          if (now && sameAccount(now, user)) continue;
          await driver.putUser(tag, user);
          changed++;
        }
        for (const name of running.keys()) await driver.removeUser(tag, name);
        changed += running.size;
        if (changed > 0) this.#log.info('users of an inbound brought up to date', { tag, changed });
        this.dirty.delete(inboundId);
        return DONE;
      } catch (error) {
        return this.#failed(tag, inboundId, error);
      }
    });
  }

  #failed(tag: string, inboundId: number, error: unknown): Applied {
    this.dirty.add(inboundId);
    this.#log[error instanceof CoreUnreachable ? 'warn' : 'error']('the core did not take a change of users; it will be tried again', { tag, reason: messageOf(error) });
    return { pending: true, reason: messageOf(error) };
  }
}
