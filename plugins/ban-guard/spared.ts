// Addresses over a limit that were not banned, with the reason: in memory, for an admin to look at.
import type { Clock, Log } from '../../kernel/index.js';
import type { Spared } from './decision.js';

const MOST = 1000;
/** Other clients at a shared address. */
export const MOST_NAMED = 20;
const LOGGED_EVERY_MS = 3_600_000;

export interface SparedAddress extends Spared {
  /** Unix ms of the last time */
  readonly at: number;
}

export class SparedAddresses {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #spared = new Map<string, SparedAddress & { readonly loggedAt: number }>();

  constructor({ log, clock }: { log: Log; clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
  }

  add(spared: readonly Spared[]): void {
    const at = this.#clock.now();
    for (const one of spared) {
      const key = `${one.clientId} ${one.address}`;
      const before = this.#spared.get(key);
      const isLogged = before?.reason === one.reason && before.loggedAt > at - LOGGED_EVERY_MS;
      if (!isLogged) {
        const { email, address, reason, sharedWith } = one;
        this.#log.info('an address over a limitIp is not banned', {
          email,
          address,
          reason,
          ...(sharedWith.length > 0 && { sharedWith }),
        });
      }
      this.#spared.delete(key);
      this.#spared.set(key, { ...one, at, loggedAt: isLogged ? before.loggedAt : at });
      const [oldest] = this.#spared.keys();
      if (this.#spared.size > MOST && oldest !== undefined) this.#spared.delete(oldest);
    }
  }

  /** The latest first. */
  list(): SparedAddress[] {
    return [...this.#spared.values()].map(({ loggedAt: _, ...one }) => one).reverse();
  }
}
