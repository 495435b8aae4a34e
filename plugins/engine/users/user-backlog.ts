// Users of large calls on their way to the core: the caller is answered at once, and the users follow in portions, so
// that small calls overtake them and the panel answers others meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { TimeSlice } from '../../../kernel/index.js';
import type { Applied, UserRef } from '../contract.js';

/** Users of one portion: the longest that a small call waits. */
const AT_ONCE = 32;
/** While large changes come one after another, they get this long between two portions. */
const PAUSE_MS = 30;
const SERIES_MS = 1000;
/** Until the first portions were timed. */
const USUAL_MS_PER_USER = 0.2;

interface Needs {
  readonly isGone: (user: UserRef) => boolean;
  /** Brings these users to the core as they should be then. Never rejects. */
  readonly apply: (users: readonly UserRef[]) => Promise<unknown>;
}

/** Ids of clients by inbound, each once. */
type Waiting = Map<number, Set<number>>;

export class UserBacklog {
  readonly #isGone: Needs['isGone'];
  readonly #apply: Needs['apply'];
  /** They go first: who lost access must not wait for those who get it. */
  readonly #removed: Waiting = new Map();
  readonly #others: Waiting = new Map();
  /** of those that wait */
  #size = 0;
  #inFlight = 0;
  /** id of the inbound that loses those in flight */
  #removing: number | undefined;
  #msPerUser = USUAL_MS_PER_USER;
  #isDraining = false;
  #lastCall = -Infinity;
  #isSeries = false;

  constructor({ isGone, apply }: Needs) {
    this.#isGone = isGone;
    this.#apply = apply;
  }

  /** Users that the core may lack. */
  get size(): number {
    return this.#size + this.#inFlight;
  }

  /** Resolves when they are noted, with the number of users that wait now and the time that they take. */
  async add(users: readonly UserRef[]): Promise<Applied> {
    const slice = new TimeSlice();
    const now = performance.now();
    this.#isSeries = now - this.#lastCall < SERIES_MS;
    this.#lastCall = now;
    // One call does the same to all: whether it removes users shows in the first of them.
    const waiting = users[0] && this.#isGone(users[0]) ? this.#removed : this.#others;
    for (const user of users) {
      if (slice.isOver) await slice.next();
      this.#note(user, waiting);
    }
    if (!this.#isDraining) void this.#drain();
    const ms = Math.ceil(this.size * this.#msPerUser);
    return {
      pending: true,
      reason: `${this.size} users are on their way to it, which takes about ${(ms / 1000).toFixed(1)} s`,
      onTheWay: { users: this.size, ms },
    };
  }

  /**
   * Notes users that get ahead of those that are removed from the same inbound: they come to the core once more after them.
   * The core forgets a secret with any of its users, and one of these may have that of a deleted client.
   */
  overtake(users: readonly UserRef[]): void {
    if (this.#removed.size === 0 && this.#removing === undefined) return;
    for (const user of users)
      if ((this.#removed.has(user.inboundId) || this.#removing === user.inboundId) && !this.#isGone(user))
        this.#note(user, this.#others);
  }

  /** Forgets all: for a core that is stopped or left, since whoever starts or adopts it reads all users. */
  clear(): void {
    this.#removed.clear();
    this.#others.clear();
    this.#size = 0;
  }

  #note({ inboundId, clientId }: UserRef, waiting: Waiting): void {
    if (this.#removed.get(inboundId)?.has(clientId)) return;
    if (this.#others.get(inboundId)?.delete(clientId)) this.#size -= 1;
    const ids = waiting.get(inboundId) ?? new Set();
    ids.add(clientId);
    waiting.set(inboundId, ids);
    this.#size += 1;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    const slice = new TimeSlice();
    while (this.#size > 0) {
      if (this.#isSeries && performance.now() - this.#lastCall < SERIES_MS) await pause(PAUSE_MS);
      const began = performance.now();
      await slice.next();
      const waiting = this.#removed.size > 0 ? this.#removed : this.#others;
      const users = this.#take(waiting);
      this.#inFlight = users.length;
      this.#removing = waiting === this.#removed ? users[0]?.inboundId : undefined;
      await this.#apply(users);
      this.#inFlight = 0;
      this.#removing = undefined;
      const perUser = (performance.now() - began) / Math.max(users.length, 1);
      this.#msPerUser += (perUser - this.#msPerUser) / 32;
    }
    this.#isDraining = false;
  }

  /** Users of one inbound, and of another one at the next call. */
  #take(waiting: Waiting): UserRef[] {
    const [first] = waiting;
    if (!first) return [];
    const [inboundId, ids] = first;
    const users: UserRef[] = [];
    for (const clientId of ids) {
      if (users.length === AT_ONCE) break;
      users.push({ inboundId, clientId });
      ids.delete(clientId);
    }
    waiting.delete(inboundId);
    if (ids.size > 0) waiting.set(inboundId, ids);
    this.#size -= users.length;
    return users;
  }
}
