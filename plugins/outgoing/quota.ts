// Limits the calls of one plugin, at once and per minute, so that a plugin that loops affects only itself.
import type { Clock } from '../../kernel/index.js';
import { type CallQuota, OutgoingError } from './contract.js';

export const AT_ONCE = 8;
export const MOST_WAITING = 100;
export const PER_MINUTE = 300;
const MINUTE_MS = 60_000;
const MOST = { atOnce: 256, perMinute: 60_000 } as const;

/** Returns what is wrong with a quota that a plugin declares. */
export function quotaProblem(quota: unknown, outside: boolean): string | undefined {
  if (outside) return 'quota is not for third-party plugins';
  for (const name of ['atOnce', 'perMinute'] as const) {
    const value = (quota as Partial<CallQuota> | null)?.[name];
    if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > MOST[name])
      return `quota.${name} must be an integer from 1 to ${MOST[name]}`;
  }
  return undefined;
}

export class Quota {
  readonly #plugin: string;
  readonly #clock: Clock;
  readonly #atOnce: number;
  readonly #perMinute: number;
  readonly #waiting = new Set<() => void>();
  #open = 0;
  /** A token bucket: the calls that are left, and when they were counted. */
  #left: number;
  #countedAt: number;

  constructor(
    plugin: string,
    clock: Clock,
    { atOnce, perMinute }: CallQuota = { atOnce: AT_ONCE, perMinute: PER_MINUTE },
  ) {
    this.#plugin = plugin;
    this.#clock = clock;
    this.#atOnce = atOnce;
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#countedAt = clock.now();
  }

  /** Resolves with a function that releases the slot when this call may run; rejects if there are too many calls, or with the reason of the signal. */
  async take(signal: AbortSignal): Promise<() => void> {
    this.#spend();
    if (this.#open >= this.#atOnce) await this.#wait(signal);
    else this.#open++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack();
      isHeld = false;
    };
  }

  #spend(): void {
    const now = this.#clock.now();
    // A clock that was set back changes nothing.
    const gained = (Math.max(0, now - this.#countedAt) * this.#perMinute) / MINUTE_MS;
    this.#left = Math.min(this.#perMinute, this.#left + gained);
    this.#countedAt = now;
    if (this.#left < 1)
      throw new OutgoingError(
        'busy',
        `the plugin ${this.#plugin} makes more than ${this.#perMinute} calls a minute; let it call less often`,
      );
    this.#left--;
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= MOST_WAITING)
      throw new OutgoingError(
        'busy',
        `the plugin ${this.#plugin} has ${this.#atOnce} calls open and ${MOST_WAITING} waiting; read or cancel the bodies of its replies`,
      );
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(go);
        reject(signal.reason as Error);
      };
      const go = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(go);
    });
  }

  /** Passes the slot directly to the call that waits longest. */
  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#open--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
