// Slows guessing down. An address, and an address with one user name, are blocked after failures; a user name alone is
// only delayed, or anybody could lock the admin out. Attempts are counted before they are checked, so that many at once gain nothing.
import type { Clock } from '../../kernel/index.js';
import { isIPv6 } from 'node:net';

const WINDOW_MS = 5 * 60_000;
const BLOCK_MS = 15 * 60_000;
const PER_PAIR = 5;
const PER_ADDRESS = 20;
const LONGEST_DELAY_MS = 5_000;
const MOST_KEYS = 10_000;

interface Record {
  failures: number[];
  blockedUntil: number;
}

/** One household has a whole IPv6 /64. */
const networkOf = (ip: string): string => {
  if (!isIPv6(ip)) return ip;
  const [head = '', tail = ''] = ip.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const whole = ip.includes('::')
    ? [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
    : left;
  return whole.slice(0, 4).join(':');
};

export class LoginLimits {
  readonly #clock: Clock;
  readonly #records = new Map<string, Record>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** Counts an attempt as failed until `succeeded` says otherwise. Answers how long to wait first, or until when it is blocked (both ms). */
  attempt(ip: string, username: string): { delay: number } | { blockedFor: number } {
    const now = this.#clock.now();
    const network = networkOf(ip);
    const user = username.trim().toLowerCase();
    const limits: [string, number][] = [
      [`a ${network}`, PER_ADDRESS],
      [`p ${network} ${user}`, PER_PAIR],
    ];
    const blocked = Math.max(...limits.map(([key]) => (this.#records.get(key)?.blockedUntil ?? 0) - now));
    if (blocked > 0) return { blockedFor: blocked };
    for (const [key, most] of limits) {
      const record = this.#count(key, now);
      if (record.failures.length > most)
        Object.assign(record, { failures: [], blockedUntil: now + BLOCK_MS });
      if (record.blockedUntil > now) return { blockedFor: record.blockedUntil - now };
    }
    const failures = this.#count(`u ${user}`, now).failures.length;
    return { delay: failures <= 3 ? 0 : Math.min(LONGEST_DELAY_MS, 100 * 2 ** (failures - 4)) };
  }

  /** How long this address is still blocked, whatever the user name (ms); 0 when it is not. */
  blockedFor(ip: string): number {
    const { blockedUntil = 0 } = this.#records.get(`a ${networkOf(ip)}`) ?? {};
    return Math.max(0, blockedUntil - this.#clock.now());
  }

  succeeded(ip: string, username: string): void {
    const network = networkOf(ip);
    const user = username.trim().toLowerCase();
    this.#records.delete(`p ${network} ${user}`);
    this.#records.delete(`u ${user}`);
    this.#records.get(`a ${network}`)?.failures.pop();
  }

  /** Lifts every block. */
  forget(): void {
    this.#records.clear();
  }

  #count(key: string, now: number): Record {
    const record = this.#records.get(key) ?? { failures: [], blockedUntil: 0 };
    record.failures = record.failures.filter((at) => at > now - WINDOW_MS);
    record.failures.push(now);
    this.#records.delete(key);
    this.#records.set(key, record);
    this.#forgetOld(now);
    return record;
  }

  /** A flood of names must not fill the memory; blocks in force are kept. */
  #forgetOld(now: number): void {
    if (this.#records.size <= MOST_KEYS) return;
    for (const [key, { blockedUntil }] of this.#records) {
      if (blockedUntil <= now) this.#records.delete(key);
      if (this.#records.size <= MOST_KEYS) return;
    }
  }
}
