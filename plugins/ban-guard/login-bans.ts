// Bans addresses from the panel after too many failed logins. Names are not looked at: people type passwords there.
import { type Clock, type LiveSettings, type Log, messageOf, storageFailure } from '../../kernel/index.js';
import type { BanStore } from './ban-store.js';
import type { Enforcer } from './enforcer.js';
import type { Protection } from './protection.js';
import type { banGuardSettings } from './settings.js';
import { banAddress } from './target.js';

const WINDOW_MS = 600_000;
const MOST_COUNTED = 10_000;

export class LoginBans {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #settings: LiveSettings<typeof banGuardSettings>;
  readonly #store: BanStore;
  readonly #enforcer: Enforcer;
  readonly #protection: Protection;
  /** by address, the one whose window began first comes first */
  readonly #failures = new Map<string, { since: number; count: number }>();

  constructor(needs: {
    log: Log;
    clock: Clock;
    settings: LiveSettings<typeof banGuardSettings>;
    store: BanStore;
    enforcer: Enforcer;
    protection: Protection;
  }) {
    this.#log = needs.log;
    this.#clock = needs.clock;
    this.#settings = needs.settings;
    this.#store = needs.store;
    this.#enforcer = needs.enforcer;
    this.#protection = needs.protection;
  }

  async attempted(attempts: readonly { readonly ip: string; readonly ok: boolean }[]): Promise<void> {
    const { banGuardLoginFailures: most, banGuardLoginMinutes: minutes } = this.#settings.read();
    if (most === 0 || !this.#enforcer.isWorking) return;
    const reached = new Set<string>();
    for (const { ip, ok } of attempts) {
      const address = banAddress(ip);
      if (address === undefined) continue;
      if (ok) this.#failures.delete(address);
      else if (this.#count(address) >= most) reached.add(address);
    }
    const chosen = [...reached].filter(
      (address) => this.#protection.of(address) === '' && !this.#store.isBanned({ address, scope: 'panel' }),
    );
    const { room } = this.#store;
    if (chosen.length > room)
      this.#log.warn('as many addresses are banned as can be; others are not, after failed logins', { room });
    const bans = chosen.slice(0, Math.max(0, room)).map((address) => ({
      address,
      scope: 'panel' as const,
      reason: 'login' as const,
      clientId: 0,
      email: '',
      driver: this.#enforcer.driver,
      minutes,
    }));
    if (bans.length === 0) return;
    try {
      await this.#enforcer.carryOut(await this.#store.add(bans));
    } catch (error) {
      if (!storageFailure(error)) throw error;
      this.#log.warn('bans after failed logins cannot be stored', { reason: messageOf(error) });
      return;
    }
    for (const { address } of bans) this.#failures.delete(address);
    this.#log.info('banned addresses after failed logins', { addresses: bans.map(({ address }) => address) });
  }

  #count(address: string): number {
    const now = this.#clock.now();
    const known = this.#failures.get(address);
    if (known && now >= known.since && now - known.since < WINDOW_MS) return ++known.count;
    this.#failures.delete(address);
    this.#failures.set(address, { since: now, count: 1 });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MOST_COUNTED && oldest !== undefined) this.#failures.delete(oldest);
    return 1;
  }
}
