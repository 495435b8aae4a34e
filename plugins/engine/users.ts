// Reconciles the core's users. Each step reads the current desired state and updates the core to match, so a step that is
// repeated, late or run after a crash gives the same result.
import {
  type Hooks,
  KeyedQueue,
  type Log,
  messageOf,
  type PluginContext,
  TimeSlice,
} from '../../kernel/index.js';
import {
  type Applied,
  CoreUsers,
  type CoreUserSource,
  type UserRef,
  userName,
  userOf,
  usersRemoved,
} from './contract.js';
import { type CoreDriver, CoreRefused, CoreUnreachable, type CoreUser, type UserCounter } from './driver.js';
import { accountJson } from './account-type.js';
import type { Accounts } from './accounts.js';
import { containedSource } from './shapes.js';
import type { InboundIdentity } from './plan.js';

/** Calls to the core in one turn of the event loop; each takes about 0.3 ms. */
const AT_ONCE = 16;
/** The core accepts requests of 4 MiB; users are shorter in protobuf than in JSON. */
const MOST_BYTES_IN_CONFIG = 2_500_000;
export const DONE: Applied = { pending: false, reason: '' };

/** Returns the reason of a rejected account, which must not delay others; throws when the core is gone. */
const refusal = (user: CoreUser, error: unknown): string => {
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

/** Returns the counters of users, without others that the core has. */
export const ofUsers = (counters: readonly UserCounter[]) =>
  counters.flatMap(({ name, up, down }) => {
    const ref = userOf(name);
    return ref ? [{ ...ref, up, down }] : [];
  });

interface Needs extends Pick<PluginContext, 'hooks' | 'log' | 'contributions'> {
  accounts: Accounts;
}

export class UserReconciler {
  readonly #log: Log;
  readonly #hooks: Hooks;
  readonly #contributions: PluginContext['contributions'];
  #contained: readonly CoreUserSource[] | undefined;
  readonly #accounts: Accounts;
  /** why a user of an inbound was left out, by tag: logged once while it lasts */
  readonly #unfit = new Map<string, string>();
  /** number of users that do not fit into the config of their inbound, by tag */
  readonly #overfull = new Map<string, number>();
  /** Users of one inbound change one after another, together with the inbound itself. */
  readonly queues = new KeyedQueue<string>();
  /** Ids of inbounds whose users may differ from the desired state. */
  readonly dirty = new Set<number>();

  constructor({ log, hooks, accounts, contributions }: Needs) {
    this.#log = log;
    this.#hooks = hooks;
    this.#accounts = accounts;
    this.#contributions = contributions;
  }

  get #sources(): readonly CoreUserSource[] {
    return (this.#contained ??= this.#contributions(CoreUsers).map(containedSource));
  }

  /** The core has removed these users. */
  #removed(users: readonly UserRef[]): void {
    this.#hooks.emit(usersRemoved, { users });
  }

  /** Yields the inbound's users, without those whose accounts do not fit its type: one must not keep out all others. */
  *fitting({ id, tag, protocol }: InboundIdentity): Iterable<CoreUser> {
    let first: string | undefined;
    for (const source of this.#sources)
      for (const user of source.users(id)) {
        const problem = this.#accounts.problem(user, protocol);
        if (problem === undefined) yield user;
        else first ??= `${user.name}: ${problem}`;
      }
    if (first !== undefined && this.#unfit.get(tag) !== first)
      this.#log.error('left out users of an inbound: their accounts are not valid for the core', {
        tag,
        first,
      });
    if (first === undefined) this.#unfit.delete(tag);
    else this.#unfit.set(tag, first);
  }

  /** Users that must be in an inbound's config; undefined when the core's API changes its users. */
  inConfig(inbound: InboundIdentity): readonly CoreUser[] | undefined {
    const type = this.#accounts.of(inbound.protocol);
    if (type?.users !== 'config') return undefined;
    const users: CoreUser[] = [];
    let bytes = 0;
    let without = 0;
    for (const user of this.fitting(inbound)) {
      bytes += Buffer.byteLength(JSON.stringify(accountJson(type, user.name, user.account)));
      if (bytes <= MOST_BYTES_IN_CONFIG) users.push(user);
      else without += 1;
    }
    if (without > 0 && this.#overfull.get(inbound.tag) !== without)
      this.#log.error('an inbound has more users than its config has room for; attach fewer clients to it', {
        tag: inbound.tag,
        room: users.length,
        without,
      });
    this.#overfull.set(inbound.tag, without);
    return users;
  }

  /** Emits usersRemoved for those of these that are no longer users; call it after the core has the others. */
  givenUp(users: readonly UserRef[]): void {
    const gone = users.filter((ref) => this.one(ref) === undefined);
    if (gone.length > 0) this.#removed(gone);
  }

  /** Returns the desired state of a user; undefined when it must not exist. */
  one(ref: UserRef): CoreUser | undefined {
    for (const source of this.#sources) {
      const user = source.user(ref);
      if (user) return user;
    }
    return undefined;
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

  /** Compares the users of marked inbounds. */
  async compareDirty(driver: CoreDriver, inbounds: Inbounds): Promise<void> {
    for (const inboundId of this.dirty) {
      const inbound = inbounds.get(inboundId);
      if (inbound === undefined) this.dirty.delete(inboundId);
      else await this.compare(driver, inbound);
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
        // Several inbounds may change at the same time: yield between their calls.
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

  /** Compares all users of an inbound with the desired state; for starts, and after failures. */
  async compare(driver: CoreDriver, inbound: InboundIdentity): Promise<void> {
    const { tag, id: inboundId, protocol } = inbound;
    return this.queues.run(tag, async () => {
      try {
        const running = new Map((await driver.users(tag, protocol)).map((user) => [user.name, user]));
        // Read all at once: later changes wait in the queue.
        const wanted = [...this.fitting(inbound)];
        const missing = wanted.filter((user) => !sameAccount(running.get(user.name), user));
        const names = new Set(wanted.map(({ name }) => name));
        const surplus = [...running.keys()].filter((name) => !names.has(name));
        for (const name of surplus) await driver.removeUser(tag, name);
        if (surplus.length > 0) this.#removed(surplus.flatMap((name) => userOf(name) ?? []));
        const refused: string[] = [];
        for (const user of missing)
          await driver.putUser(tag, user).catch((error: unknown) => refused.push(refusal(user, error)));
        const changed = surplus.length + missing.length - refused.length;
        if (changed > 0) this.#log.info('reconciled users of an inbound', { tag, changed });
        // Rejected users are not retried again: their next change is reported by its own call.
        this.dirty.delete(inboundId);
        if (refused.length === 0) return;
        this.#log.error('the core rejected users of an inbound', {
          tag,
          count: refused.length,
          first: refused[0],
        });
      } catch (error) {
        this.#failed(tag, inboundId, error);
      }
    });
  }

  #failed(tag: string, inboundId: number, error: unknown): Applied {
    // Logged once per series of retries.
    if (!this.dirty.has(inboundId))
      this.#log[error instanceof CoreUnreachable ? 'warn' : 'error'](
        'the core did not accept a change of users; retrying',
        {
          tag,
          reason: messageOf(error),
        },
      );
    this.dirty.add(inboundId);
    return { pending: true, reason: messageOf(error) };
  }
}
