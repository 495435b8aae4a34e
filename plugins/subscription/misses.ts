// Limits how often one address may ask for what is not there: the id of a subscription is its only secret.
import type { IncomingMessage } from 'node:http';
import { type LiveSettings, type ListenersApi, NetworkList, networkOf } from '../../kernel/index.js';
import type { subscriptionSettings } from './settings.js';

/** Misses count together for this long; an address above the limit waits until its time is over. */
const WINDOW_MS = 600_000;
/** Addresses in memory, about 150 bytes each; beyond, the one that began first is forgotten. */
const MOST_ADDRESSES = 20_000;

/** Behind a proxy that is not trusted, all callers have its address: one that guesses must not keep out the others. */
const INSIDE = new NetworkList([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10',
]);

interface Count {
  misses: number;
  readonly until: number;
}

export class Misses {
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #listeners: ListenersApi;
  readonly #counts = new Map<string, Count>();
  /** Addresses above the limit; while there is none, a fetch costs nothing here. */
  #above = 0;

  constructor({
    settings,
    listeners,
  }: {
    settings: LiveSettings<typeof subscriptionSettings>;
    listeners: ListenersApi;
  }) {
    this.#settings = settings;
    this.#listeners = listeners;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** Seconds until this caller may ask again; 0: now. */
  waitOf(request: IncomingMessage, now: number): number {
    const limit = this.#above === 0 ? 0 : this.#settings.read().subMissLimit;
    if (limit === 0) return 0;
    const count = this.#counts.get(this.#whoOf(request));
    if (!count || count.misses < limit || count.until <= now) return 0;
    return Math.ceil((count.until - now) / 1000);
  }

  record(request: IncomingMessage, now: number): void {
    const limit = this.#settings.read().subMissLimit;
    if (limit === 0) return;
    const who = this.#whoOf(request);
    if (who === '') return;
    let count = this.#counts.get(who);
    if (count && count.until <= now) {
      this.#forget(who, count);
      count = undefined;
    }
    if (!count) {
      count = { misses: 0, until: now + WINDOW_MS };
      const [oldest] = this.#counts.size >= MOST_ADDRESSES ? this.#counts : [];
      if (oldest) this.#forget(...oldest);
      this.#counts.set(who, count);
    }
    if (++count.misses === limit) this.#above++;
  }

  /** Forgets those whose time is over. They are in the order of their time. */
  sweep(now: number): void {
    for (const [who, count] of this.#counts) {
      if (count.until > now) return;
      this.#forget(who, count);
    }
  }

  /** After a change of the limit, nobody knows who was above it. */
  clear(): void {
    this.#counts.clear();
    this.#above = 0;
  }

  #forget(who: string, { misses }: Count): void {
    this.#counts.delete(who);
    if (misses >= this.#settings.read().subMissLimit) this.#above = Math.max(0, this.#above - 1);
  }

  /** Of IPv6 the /64: one caller has all of its addresses. '' for addresses that are not counted. */
  #whoOf(request: IncomingMessage): string {
    const address = this.#listeners.proxies.callerAddress(request);
    if (address === '' || INSIDE.has(address)) return '';
    return networkOf(address);
  }
}
