// Users that exist only in their inbound's config: a change replaces the whole inbound. Changes are batched, and one
// replacement applies all that came before it.
import { type Applied, DONE, type UserRef, userName } from '../contract.js';
import type { InboundReconciler } from '../apply/inbound-reconciler.js';
import type { UserReconciler } from './user-reconciler.js';

/** New connections fail for less than a millisecond at each replacement. */
const BETWEEN_MS = 1_000;
const LATER: Applied = {
  pending: true,
  reason: `users of this inbound are part of its config, which is replaced at most every ${BETWEEN_MS / 1000} s`,
};

interface Needs {
  readonly users: UserReconciler;
  readonly inbounds: InboundReconciler;
  /** Waits in the queue, calls `begin`, and applies the plan of that moment to the running core. Never rejects. */
  readonly reconcile: (begin: () => void) => Promise<Applied>;
  /** whether the last plan did not reach the core: it failed midway, or no core runs */
  readonly planNotApplied: () => boolean;
}

export class ConfigUsers {
  readonly #users: UserReconciler;
  readonly #inbounds: InboundReconciler;
  readonly #reconcile: Needs['reconcile'];
  readonly #planNotApplied: Needs['planNotApplied'];
  /** changes that have not reached the core, by name */
  #waiting = new Map<string, UserRef>();
  /** a replacement that has not begun: later callers share it */
  #next: Promise<Applied> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begunAt = -Infinity;
  /** users of the replacement that is under way */
  #inReplacement = 0;

  constructor({ users, inbounds, reconcile, planNotApplied }: Needs) {
    this.#users = users;
    this.#inbounds = inbounds;
    this.#reconcile = reconcile;
    this.#planNotApplied = planNotApplied;
  }

  #storesUsersOf(inboundId: number): boolean {
    return this.#inbounds.planned.get(inboundId)?.users !== undefined;
  }

  /** Separates users that are part of their inbound's config from those that the core's API changes. */
  divide(users: readonly UserRef[]): { inConfig: UserRef[]; byApi: UserRef[] } {
    const inConfig = users.filter(({ inboundId }) => this.#storesUsersOf(inboundId));
    return { inConfig, byApi: users.filter(({ inboundId }) => !this.#storesUsersOf(inboundId)) };
  }

  /** Resolves when the core has these changes; with `pending` at once when the last replacement was a moment ago. */
  change(users: readonly UserRef[]): Promise<Applied> {
    for (const ref of users) this.#waiting.set(userName(ref), ref);
    if (this.#next) return this.#next;
    if (!this.hasWaiting) return Promise.resolve(DONE);
    if (this.#timer) return Promise.resolve(LATER);
    const wait = this.#begunAt + BETWEEN_MS - performance.now();
    if (wait <= 0) return (this.#next = this.#replace());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#next ??= this.#replace();
    }, wait);
    return Promise.resolve(LATER);
  }

  /** Tries again what waits. */
  retry(): Promise<Applied> {
    return this.change([]);
  }

  async #replace(): Promise<Applied> {
    let users: readonly UserRef[] = [];
    const applied = await this.#reconcile(() => {
      users = [...this.#waiting.values()];
      this.#waiting = new Map();
      this.#inReplacement = users.length;
      // Callers from here on get the next replacement.
      this.#next = undefined;
      this.#begunAt = performance.now();
    });
    this.#inReplacement = 0;
    if (this.#planNotApplied()) {
      for (const ref of users) this.#waiting.set(userName(ref), ref);
      return applied;
    }
    this.#users.emitRemoved(users);
    const reasons = users.map(({ inboundId }) => this.#inbounds.rejected.get(this.#tag(inboundId)));
    const reason = reasons.find((found) => found !== undefined);
    return reason === undefined ? DONE : { pending: true, reason };
  }

  #tag(inboundId: number): string {
    return this.#inbounds.planned.get(inboundId)?.tag ?? '';
  }

  /** Inbounds with users in their config that were marked: users changed while the core started. */
  #marked(): number[] {
    return [...this.#users.marked].filter((inboundId) => this.#storesUsersOf(inboundId));
  }

  /** Users whose change the core does not have yet. */
  get onTheWay(): number {
    return this.#waiting.size + this.#inReplacement;
  }

  /** Whether the core lacks changes: failed ones, or ones that came while it started. */
  get hasWaiting(): boolean {
    return this.#waiting.size > 0 || this.#marked().length > 0;
  }

  /** Call it before a new plan is made: it has the current users of these inbounds, so they need no comparison. */
  beforePlan(): void {
    this.#users.unmark(this.#marked());
  }

  /** Cancels planned replacements. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
