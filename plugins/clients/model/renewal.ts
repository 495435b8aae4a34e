// Whether a client can renew, now or later.
import type { ClientRow } from './row.js';

/** What decides about the renewals of a client. */
export type RenewalTerms = Pick<ClientRow, 'reset' | 'resetDay' | 'resetMax' | 'resetCount'>;

/** Whether a renewal is left. The column `renews_at` says the same in SQL. */
export const canRenew = ({ reset, resetDay, resetMax, resetCount }: RenewalTerms): boolean =>
  (reset > 0 || resetDay > 0) && (resetMax === 0 || resetCount < resetMax);

const DAY_MS = 86_400_000;

/** An expiry with so many days more than what is left, or than now where nothing is. A time that has not started becomes that many days; one without an end stays. */
export function renewedExpiry(expiryTime: number, days: number, now: number): number {
  if (expiryTime === 0) return 0;
  return expiryTime < 0 ? -days * DAY_MS : Math.max(expiryTime, now) + days * DAY_MS;
}
