// Limits how fast strangers guess at one user name, from any number of addresses: at most four checks run at once,
// and after some failures each check waits. Nobody is blocked here, or anybody could lock out the admin.
import { hash } from 'node:crypto';
import type { Clock } from '../../kernel/index.js';
import type { Outcome } from './login-limits.js';
import type { SharedFailures } from './shared-failures.js';

const MOST_AT_ONCE = 4;
const MOST_NAMES = 10_000;
const FREE_FAILURES = 3;
const FIRST_DELAY_MS = 100;

interface Kind {
  readonly windowMs: number;
  readonly longestMs: number;
}
const WRONG: Kind = { windowMs: 5 * 60_000, longestMs: 5_000 };
/** A caller with the right password and a wrong code is more dangerous: a code has only six digits. Below the 30 s after which a silent connection is closed. */
const WRONG_CODE: Kind = { windowMs: 60 * 60_000, longestMs: 20_000 };
/** Enough failures to reach the longest delay of either kind. */
const MOST_FAILURES = 16;

interface Counted {
  underWay: number;
  wrong: number[];
  wrongCode: number[];
}
export interface Entered {
  /** ms to wait before the check */
  readonly delay: number;
  /** Call it once, when the check is over. */
  readonly leave: (outcome: Outcome, wrongCode: boolean) => void;
}

const newest = (failures: readonly number[], { windowMs }: Kind, now: number): number[] =>
  failures.filter((at) => at > now - windowMs).slice(-MOST_FAILURES);
const delayOf = (failures: number, { longestMs }: Kind): number =>
  failures < FREE_FAILURES ? 0 : Math.min(longestMs, FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES));

export class NameThrottle {
  readonly #clock: Clock;
  readonly #counts = new Map<string, Counted>();

  readonly #shared: SharedFailures | undefined;

  constructor({ clock, shared }: { clock: Clock; shared?: SharedFailures | undefined }) {
    this.#clock = clock;
    this.#shared = shared;
    shared?.onTold(({ name, wrongCode }) => {
      if (name !== undefined) this.#follow(name, wrongCode === true);
    });
  }

  /** Takes a failure of another panel. */
  #follow(key: string, wrongCode: boolean): void {
    const counted = this.#counts.get(key) ?? { underWay: 0, wrong: [], wrongCode: [] };
    const at = this.#clock.now();
    counted.wrong = newest([...counted.wrong, at], WRONG, at);
    if (wrongCode) counted.wrongCode = newest([...counted.wrongCode, at], WRONG_CODE, at);
    this.#counts.delete(key);
    this.#counts.set(key, counted);
    this.#forgetOldest();
  }

  /** Returns undefined while four checks for this name are running. */
  enter(name: string): Entered | undefined {
    const now = this.#clock.now();
    const key = hash('sha256', name);
    const counted = this.#counts.get(key) ?? { underWay: 0, wrong: [], wrongCode: [] };
    const hasRoom = this.#shared?.hasRoom(MOST_AT_ONCE, counted.underWay) ?? counted.underWay < MOST_AT_ONCE;
    if (!hasRoom) return undefined;
    counted.wrong = newest(counted.wrong, WRONG, now);
    counted.wrongCode = newest(counted.wrongCode, WRONG_CODE, now);
    const delay = Math.max(
      delayOf(counted.wrong.length + counted.underWay, WRONG),
      delayOf(counted.wrongCode.length, WRONG_CODE),
    );
    counted.underWay++;
    this.#counts.delete(key);
    this.#counts.set(key, counted);
    this.#forgetOldest();
    return {
      delay,
      leave: (outcome, wrongCode) => {
        counted.underWay--;
        const at = this.#clock.now();
        if (outcome === 'succeeded') counted.wrong = [];
        if (outcome === 'failed') counted.wrong.push(at);
        // The check itself is told with its sources, in the same write.
        if (outcome === 'failed') void this.#shared?.tell({ name: key, wrongCode });
        if (wrongCode) counted.wrongCode.push(at);
        // Refused names cost a flood nothing, so they must not displace names with failures.
        const isEmpty = counted.underWay + counted.wrong.length + counted.wrongCode.length === 0;
        if (isEmpty && this.#counts.get(key) === counted) this.#counts.delete(key);
      },
    };
  }

  /** Clears all failures. */
  forget(): void {
    for (const counted of this.#counts.values()) Object.assign(counted, { wrong: [], wrongCode: [] });
  }

  /** A flood of names must not fill the memory. */
  #forgetOldest(): void {
    for (const [key, { underWay }] of this.#counts) {
      if (this.#counts.size <= MOST_NAMES) return;
      if (underWay === 0) this.#counts.delete(key);
    }
  }
}
