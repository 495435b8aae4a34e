// Checks what a program says that its users moved: it may be wrong, or lie.
import { TimeSlice } from '../../kernel/index.js';
import type { UserRef } from '../engine/contract.js';
import type { CounterReading } from '../traffic/contract.js';
import type { UserCounters } from './contract.js';

/** 100 Gbit/s, which no program of this kind moves; and what may lie in buffers. */
const MOST_PER_MS = 12_500_000;
const MOST_AT_ONCE = 1024 ** 3;
const MOST_USERS = 1_000_000;

const keyOf = ({ inboundId, clientId }: UserRef): string => `${inboundId} ${clientId}`;
/** It may be anything, and of any length. */
const shown = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(value.slice(0, 40))
    : typeof value === 'number'
      ? String(value)
      : typeof value;
const isBytes = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export class Readings {
  readonly #stream: string;
  readonly #epoch: string;
  readonly #inboundIds: ReadonlySet<number>;
  readonly #isComplete: boolean;
  readonly #isUser: (ref: UserRef) => boolean;
  /** Unix ms of the last reading; at first the start of the process */
  #at: number;
  #last = new Map<string, UserCounters>();
  /** what cannot be true; empty for nothing */
  problem = '';

  constructor(of: {
    stream: string;
    epoch: string;
    since: number;
    inboundIds: readonly number[];
    isComplete: boolean;
    /** whether the program may count for this user */
    isUser: (ref: UserRef) => boolean;
  }) {
    this.#stream = of.stream;
    this.#epoch = of.epoch;
    this.#at = of.since;
    this.#inboundIds = new Set(of.inboundIds);
    this.#isComplete = of.isComplete;
    this.#isUser = of.isUser;
  }

  /** Leaves out what is not a counter of a user of these inbounds, and says so in `problem`. Rejects where it is not a list. */
  async take(counters: readonly UserCounters[], now: number): Promise<CounterReading> {
    if (!Array.isArray(counters) || counters.length > MOST_USERS)
      throw new Error(`its counters are not a list of at most ${MOST_USERS}`);
    const users = new Map<string, UserCounters>();
    let problem = '';
    let isComplete = this.#isComplete;
    const slice = new TimeSlice();
    for (const counter of counters as readonly UserCounters[]) {
      if (slice.isOver) await slice.next();
      const wrong = this.#wrong(counter);
      if (wrong === undefined) {
        if (this.#fell(counter))
          problem ||= `the counter of client ${counter.clientId} fell while it ran; it counts as begun again at zero`;
        users.set(keyOf(counter), counter);
        continue;
      }
      problem ||= wrong;
      // Without its last value the counter would begin at zero for those who count.
      const last = this.#last.get(keyOf(counter ?? {}));
      if (last) users.set(keyOf(counter), last);
      else isComplete = false;
    }
    this.problem = problem;
    const elapsed = Math.max(0, now - this.#at);
    this.#at = now;
    this.#last = users;
    return this.#reading([...users.values()], isComplete, MOST_AT_ONCE + elapsed * MOST_PER_MS);
  }

  /** The reading of some users that begin at zero now. */
  zero(refs: readonly UserRef[]): CounterReading {
    for (const ref of refs) this.#last.delete(keyOf(ref));
    return this.#reading(
      refs.map(({ inboundId, clientId }) => ({ inboundId, clientId, up: 0, down: 0 })),
      false,
      0,
    );
  }

  #reading(users: readonly UserCounters[], isComplete: boolean, most: number): CounterReading {
    return { stream: this.#stream, epoch: this.#epoch, users, isComplete, most };
  }

  #wrong(counter: UserCounters): string | undefined {
    const { inboundId, clientId, up, down } = counter ?? {};
    if (!this.#inboundIds.has(inboundId) || !Number.isSafeInteger(clientId))
      return 'it counts a user that is not of its inbounds';
    if (!this.#isUser(counter))
      return `it counts client ${clientId}, which inbound ${inboundId} does not have`;
    if (!isBytes(up) || !isBytes(down))
      return `it reports ${shown(up)} and ${shown(down)} bytes of client ${clientId}, which cannot be; they are not counted`;
    return undefined;
  }

  #fell(counter: UserCounters): boolean {
    const last = this.#last.get(keyOf(counter));
    return last !== undefined && (counter.up < last.up || counter.down < last.down);
  }
}
