// Users that stand in the config of their inbound: the whole inbound is replaced when one of them changes, so changes
// are gathered, and one replacement serves all that came meanwhile.
import type { ConfigReconciler } from './config.js';
import { type Applied, type UserRef, userName } from './contract.js';
import { DONE, type UserReconciler } from './users.js';

/** New connections fail for less than a millisecond at each replacement. */
const BETWEEN_MS = 1_000;
const LATER: Applied = {
  pending: true,
  reason: `users of this inbound stand in its config, which is replaced at most every ${BETWEEN_MS / 1000} s`,
};

interface Parts {
  readonly users: UserReconciler;
  readonly config: ConfigReconciler;
  /** Takes its turn, calls `begin`, and brings the running core to a plan of that moment. Never rejects. */
  readonly reconcile: (begin: () => void) => Promise<Applied>;
  /** whether the core may differ from the last plan */
  readonly isBehind: () => boolean;
}

export class ConfigUsers {
  readonly #users: UserReconciler;
  readonly #config: ConfigReconciler;
  readonly #reconcile: Parts['reconcile'];
  readonly #isBehind: Parts['isBehind'];
  /** what changed and has not reached the core, by name */
  #waiting = new Map<string, UserRef>();
  /** a replacement that has not begun: it serves whoever asks until then */
  #next: Promise<Applied> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begunAt = -Infinity;

  constructor({ users, config, reconcile, isBehind }: Parts) {
    this.#users = users;
    this.#config = config;
    this.#reconcile = reconcile;
    this.#isBehind = isBehind;
  }

  /** Whether users of this inbound stand in its config. */
  readonly has = ({ inboundId }: Pick<UserRef, 'inboundId'>): boolean =>
    this.#config.inbounds.get(inboundId)?.users !== undefined;

  /** Whether the core's API changes the users of this inbound. */
  readonly lacks = (ref: Pick<UserRef, 'inboundId'>): boolean => !this.has(ref);

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
      // Those who ask from here on are served by the next one.
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

  /** Whether the core lacks changes: those that failed, and those that came while it started. */
  get behind(): boolean {
    return this.#waiting.size > 0 || [...this.#users.dirty].some((inboundId) => this.has({ inboundId }));
  }

  /** A plan is made: it has the users of these inbounds as they should be, so that nothing is to be compared. */
  planned(): void {
    for (const inboundId of this.#users.dirty)
      if (this.has({ inboundId })) this.#users.dirty.delete(inboundId);
  }

  /** Nothing is replaced any more. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
