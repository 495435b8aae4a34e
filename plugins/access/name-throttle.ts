// Bounds how fast strangers guess at one user name, however many addresses they have: at most four checks are under way,
// and after some failures each waits before it is made. Nobody is blocked here, or anybody could lock the admin out.
import { hash } from 'node:crypto';
import type { Clock } from '../../kernel/index.js';
import type { Outcome } from './login-limits.js';

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

interface Gate {
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

export class NameGate {
  readonly #clock: Clock;
  readonly #gates = new Map<string, Gate>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** Undefined when four checks for this name are under way. */
  enter(name: string): Entered | undefined {
    const now = this.#clock.now();
    const key = hash('sha256', name);
    const gate = this.#gates.get(key) ?? { underWay: 0, wrong: [], wrongCode: [] };
    if (gate.underWay >= MOST_AT_ONCE) return undefined;
    gate.wrong = newest(gate.wrong, WRONG, now);
    gate.wrongCode = newest(gate.wrongCode, WRONG_CODE, now);
    const delay = Math.max(
      delayOf(gate.wrong.length + gate.underWay, WRONG),
      delayOf(gate.wrongCode.length, WRONG_CODE),
    );
    gate.underWay++;
    this.#gates.delete(key);
    this.#gates.set(key, gate);
    this.#forgetOldest();
    return {
      delay,
      leave: (outcome, wrongCode) => {
        gate.underWay--;
        const at = this.#clock.now();
        if (outcome === 'succeeded') gate.wrong = [];
        if (outcome === 'failed') gate.wrong.push(at);
        if (wrongCode) gate.wrongCode.push(at);
        // Names that were never checked cost a flood nothing, and must not take the place of those that were.
        const isEmpty = gate.underWay + gate.wrong.length + gate.wrongCode.length === 0;
        if (isEmpty && this.#gates.get(key) === gate) this.#gates.delete(key);
      },
    };
  }

  /** Forgets every failure. */
  forget(): void {
    for (const gate of this.#gates.values()) Object.assign(gate, { wrong: [], wrongCode: [] });
  }

  /** A flood of names must not fill the memory. */
  #forgetOldest(): void {
    for (const [key, { underWay }] of this.#gates) {
      if (this.#gates.size <= MOST_NAMES) return;
      if (underWay === 0) this.#gates.delete(key);
    }
  }
}
