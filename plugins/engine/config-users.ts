// Changes of users that stand in the config of their inbound: the whole inbound is replaced for them, so changes are
// gathered, and one replacement serves all that came meanwhile.
import type { Applied, UserRef } from './contract.js';
import { userName } from './contract.js';

/** New connections fail for less than a millisecond at each replacement. */
const BETWEEN_MS = 1_000;
const LATER: Applied = {
  pending: true,
  reason: `users of this inbound stand in its config, which is replaced at most every ${BETWEEN_MS / 1000} s`,
};

export class ConfigUserChanges {
  readonly #replace: () => Promise<Applied>;
  readonly #between: number;
  #waiting = new Map<string, UserRef>();
  /** a replacement that has not begun: it serves whoever asks until then */
  #next: Promise<Applied> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begunAt = -Infinity;

  /**
   * @param replace takes its turn, calls `begin`, and brings the core to the present users; never rejects
   * @param between ms from the beginning of one replacement to that of the next
   */
  constructor(replace: () => Promise<Applied>, between = BETWEEN_MS) {
    this.#replace = replace;
    this.#between = between;
  }

  /** Resolves when the core has these changes; with `pending` at once when the last replacement was a moment ago. */
  ask(users: readonly UserRef[]): Promise<Applied> {
    for (const ref of users) this.#waiting.set(userName(ref), ref);
    if (this.#next) return this.#next;
    if (this.#timer) return Promise.resolve(LATER);
    const wait = this.#begunAt + this.#between - performance.now();
    if (wait <= 0) return this.#run();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#run();
    }, wait);
    return Promise.resolve(LATER);
  }

  #run(): Promise<Applied> {
    this.#begunAt = performance.now();
    this.#next = this.#replace();
    return this.#next;
  }

  /** The replacement begins: those who ask from here on are served by the next one. */
  begin(): readonly UserRef[] {
    const users = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#next = undefined;
    this.#begunAt = performance.now();
    return users;
  }

  /** Nothing is replaced any more. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
