// Keeps what says the same again and again quiet: one occurrence of a key in fifteen minutes.
const QUIET_MS = 15 * 60_000;
const MOST_KEYS = 1_000;

export class QuietKeys {
  /** time of the last one that passed; the oldest first */
  readonly #passed = new Map<string, number>();

  /** Whether this one passes. */
  passes(key: string, now: number): boolean {
    const last = this.#passed.get(key);
    // Also when the clock was set back.
    if (last !== undefined && last <= now && now < last + QUIET_MS) return false;
    this.#passed.delete(key);
    this.#passed.set(key, now);
    const [oldest] = this.#passed.keys();
    if (this.#passed.size > MOST_KEYS && oldest !== undefined) this.#passed.delete(oldest);
    return true;
  }
}
