// The users that inbounds should have, as the sources of all plugins return them now.
import type { Log, PluginContext } from '../../../kernel/index.js';
import { accountJson } from './account-type.js';
import type { Accounts } from './accounts.js';
import { containedSource } from './contained-source.js';
import { CoreUsers, type CoreUserSource, type UserRef } from '../contract.js';
import type { CoreUser } from '../driver.js';
import type { InboundIdentity } from '../config/plan.js';

interface Needs extends Pick<PluginContext, 'log' | 'contributions'> {
  accounts: Accounts;
}

export class DesiredUsers {
  readonly #log: Log;
  readonly #accounts: Accounts;
  readonly #contributions: PluginContext['contributions'];
  #contained: readonly CoreUserSource[] | undefined;
  /** the first invalid user of an inbound, with the reason, by tag: logged once while it lasts */
  readonly #firstInvalid = new Map<string, string>();
  /** number of users that do not fit into the config of their inbound, by tag */
  readonly #surplus = new Map<string, number>();

  constructor({ log, accounts, contributions }: Needs) {
    this.#log = log;
    this.#accounts = accounts;
    this.#contributions = contributions;
  }

  /** Read at the first use: all plugins have added theirs by then. */
  get #sources(): readonly CoreUserSource[] {
    return (this.#contained ??= this.#contributions(CoreUsers).map(containedSource));
  }

  /** Whether the core must not have this user; false while that is not known. */
  isGone(ref: UserRef): boolean {
    try {
      return this.one(ref) === undefined;
    } catch {
      return false;
    }
  }

  /** Returns a user; undefined when it must not exist. Throws while its source reads its data again. Does not check its account: the driver does, and rejects that user alone. */
  one(ref: UserRef): CoreUser | undefined {
    for (const source of this.#sources) {
      const user = source.user(ref);
      if (user) return user;
    }
    return undefined;
  }

  /** Returns a user of an inbound; undefined when it must not exist, and when its account is not valid. Throws as `one`. */
  validOne(ref: UserRef, { protocol }: InboundIdentity): CoreUser | undefined {
    const user = this.one(ref);
    return user && this.#accounts.problem(user, protocol) === undefined ? user : undefined;
  }

  /** Yields the inbound's users with valid accounts: an invalid one must not keep out all others. Logs the first invalid one. */
  *valid({ id, tag, protocol }: InboundIdentity): Iterable<CoreUser> {
    let invalid: string | undefined;
    for (const source of this.#sources)
      for (const user of source.users(id)) {
        const problem = this.#accounts.problem(user, protocol);
        if (problem === undefined) yield user;
        else invalid ??= `${user.name}: ${problem}`;
      }
    this.#reportInvalid(tag, invalid);
  }

  /**
   * Returns users that must be in an inbound's config, up to this many bytes; undefined when the core's API changes its
   * users. None where no plugin declares accounts: such an inbound has no users to compare. Logs how many do not fit.
   */
  inConfig(inbound: InboundIdentity, maxBytes: number): readonly CoreUser[] | undefined {
    const type = this.#accounts.of(inbound.protocol);
    if (!type) return [...this.valid(inbound)];
    if (type.users !== 'config') return undefined;
    const users: CoreUser[] = [];
    let bytes = 0;
    let surplus = 0;
    for (const user of this.valid(inbound)) {
      bytes += Buffer.byteLength(JSON.stringify(accountJson(type, user.name, user.account)));
      if (bytes <= maxBytes) users.push(user);
      else surplus += 1;
    }
    this.#reportSurplus(inbound.tag, users.length, surplus);
    return users;
  }

  #reportInvalid(tag: string, first: string | undefined): void {
    if (first !== undefined && this.#firstInvalid.get(tag) !== first)
      this.#log.error('left out users of an inbound: their accounts are not valid for the core', {
        tag,
        first,
      });
    if (first === undefined) this.#firstInvalid.delete(tag);
    else this.#firstInvalid.set(tag, first);
  }

  #reportSurplus(tag: string, room: number, without: number): void {
    if (without > 0 && this.#surplus.get(tag) !== without)
      this.#log.error('an inbound has more users than its config has room for; attach fewer clients to it', {
        tag,
        room,
        without,
      });
    this.#surplus.set(tag, without);
  }
}
