// When a certificate is ordered: at a third of its life left, later and later after failures, and never more often than
// authorities allow.
import { createHash } from 'node:crypto';
import type { Certificate, Order } from './certificate-store.js';
import type { CheckedChain } from './checked-chain.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WAITS_MS = [10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS];
/** Let's Encrypt refuses a name after five failures an hour, and a set of names after five certificates in seven days. */
const MOST_FAILURES_AN_HOUR = 4;
const MOST_ISSUED_A_WEEK = 4;

/** From 0 to 1, the same for the same text: a job that asks again and again must get one answer. */
const share = (text: string): number =>
  createHash('sha256').update(text).digest().readUInt32BE(0) / 0x1_0000_0000;

/** Unix ms at which it is renewed: when a third of its life is left, or up to a twentieth earlier, so that panels which began together do not ask together. */
export function renewAt({ serial, validFrom, validTo }: CheckedChain): number {
  const life = validTo - validFrom;
  return Math.round(validTo - life / 3 - share(serial) * (life / 20));
}

/** ms until the next attempt after so many failures in a row, a fifth of it by chance. */
export const waitAfter = (failures: number, random = Math.random()): number =>
  Math.round((WAITS_MS[Math.min(failures, WAITS_MS.length) - 1] ?? 0) * (1 + random / 5));

/** Unix ms of the next order. */
export function orderAt(
  { notBefore, createdAt }: Pick<Certificate, 'notBefore' | 'createdAt'>,
  served: CheckedChain | undefined,
): number {
  return Math.max(notBefore, served ? renewAt(served) : createdAt);
}

/** Why an order now would use up what authorities allow, and until when; undefined when it would not. Orders that the authority never confirmed do not count, but for lost ones. */
export function limitOf(
  orders: readonly Pick<Order, 'state' | 'startedAt' | 'url'>[],
  now: number,
): { readonly why: string; readonly until: number } | undefined {
  const within = (ms: number, isCounted: (order: Pick<Order, 'state' | 'url'>) => boolean): number[] =>
    orders
      .filter((order) => isCounted(order) && order.startedAt > now - ms && order.startedAt <= now)
      .map(({ startedAt }) => startedAt)
      .sort((a, b) => b - a);
  const limits = [
    {
      times: within(HOUR_MS, ({ state, url }) => state === 'lost' || (state === 'failed' && url !== '')),
      most: MOST_FAILURES_AN_HOUR,
      ms: HOUR_MS,
      why: `${MOST_FAILURES_AN_HOUR} orders for these names failed within an hour, and authorities refuse the fifth`,
    },
    {
      times: within(7 * DAY_MS, ({ state }) => state === 'issued'),
      most: MOST_ISSUED_A_WEEK,
      ms: 7 * DAY_MS,
      why: `${MOST_ISSUED_A_WEEK} certificates for these names were issued within a week, and authorities refuse the sixth`,
    },
  ];
  for (const { times, most, ms, why } of limits) {
    const oldest = times[most - 1];
    if (oldest !== undefined) return { why, until: oldest + ms };
  }
  return undefined;
}
