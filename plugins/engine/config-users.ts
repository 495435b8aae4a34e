// Users that exist only in their inbound's config: a change replaces the whole inbound. Changes are batched, and one
// replacement applies all that came before it.
import type { ConfigReconciler } from './config.js';
import { type Applied, type UserRef, userName } from './contract.js';
import { DONE, type UserReconciler } from './users.js';

/** New connections fail for less than a millisecond at each replacement. */
const BETWEEN_MS = 1_000;
const LATER: Applied = {
  pending: true,
  reason: `users of this inbound are part of its config, which is replaced at most every ${BETWEEN_MS / 1000} s`,
};

interface Parts {
  readonly users: UserReconciler;
  readonly config: ConfigReconciler;
  /** Waits in the queue, calls `begin`, and applies the plan of that moment to the running core. Never rejects. */
  readonly reconcile: (begin: () => void) => Promise<Applied>;
  /** whether the core may differ from the last plan */
  readonly isBehind: () => boolean;
}

export class ConfigUsers {
  readonly #users: UserReconciler;
  readonly #config: ConfigReconciler;
  readonly #reconcile: Parts['reconcile'];
  readonly #isBehind: Parts['isBehind'];
  /** changes that have not reached the core, by name */
  #waiting = new Map<string, UserRef>();
  /** a replacement that has not begun: later callers share it */
  #next: Promise<Applied> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begunAt = -Infinity;

  constructor({ users, config, reconcile, isBehind }: Parts) {
    this.#users = users;
    this.#config = config;
    this.#reconcile = reconcile;
    this.#isBehind = isBehind;
  }

  /** Whether users of this inbound are part of its config; else the core's API changes them. */
  storesUsersOf(inboundId: number): boolean {
    return this.#config.inbounds.get(inboundId)?.users !== undefined;
  }

  divide(users: readonly UserRef[]): { inConfig: UserRef[]; byApi: UserRef[] } {
    const inConfig = users.filter(({ inboundId }) => this.storesUsersOf(inboundId));
    return { inConfig, byApi: users.filter(({ inboundId }) => !this.storesUsersOf(inboundId)) };
  }

  /** Resolves when the core has these changes; with `pending` at once when the last replacement was a moment ago. */
  change(users: readonly UserRef[]): Promise<Applied> {
    for (const ref of users) this.#waiting.set(userName(ref), ref);
    if (this.#next) return this.#next;
    if (!this.behind) return Promise.resolve(DONE);
    if (this.#timer) return Promise.resolve(LATER);
    const wait = this.#begunAt + BETWEEN_MS - performance.now();
    if (wait <= 0) return (this.#next = this.#replace());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#next ??= this.#replace();
    }, wait);
    return Promise.resolve(LATER);
  }

  async #replace(): Promise<Applied> {
    let users: readonly UserRef[] = [];
    const applied = await this.#reconcile(() => {
      users = [...this.#waiting.values()];
      this.#waiting = new Map();
      // Callers from here on get the next replacement.
      this.#next = undefined;
      this.#begunAt = performance.now();
    });
    if (this.#isBehind()) {
      for (const ref of users) this.#waiting.set(userName(ref), ref);
      return applied;
    }
    this.#users.givenUp(users);
    const refused = users.map(({ inboundId }) => this.#config.refused.get(this.#tag(inboundId)));
    const reason = refused.find((found) => found !== undefined);
    return reason === undefined ? DONE : { pending: true, reason };
  }

  #tag(inboundId: number): string {
    return this.#config.inbounds.get(inboundId)?.tag ?? '';
  }

  /** Whether the core lacks changes: failed ones, or ones that came while it started. */
  get behind(): boolean {
    return (
      this.#waiting.size > 0 || [...this.#users.dirty].some((inboundId) => this.storesUsersOf(inboundId))
    );
  }

  /** A new plan has the current users of these inbounds, so they need no comparison. */
  planned(): void {
    for (const inboundId of this.#users.dirty)
      if (this.storesUsersOf(inboundId)) this.#users.dirty.delete(inboundId);
  }

  /** Cancels planned replacements. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
