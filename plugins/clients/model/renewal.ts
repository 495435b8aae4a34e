// Whether a client can renew, now or later.
import type { ClientRow } from './row.js';

/** What decides about the renewals of a client. */
export type RenewalTerms = Pick<ClientRow, 'reset' | 'resetDay' | 'resetMax' | 'resetCount'>;

/** Whether a renewal is left. The column `renews_at` says the same in SQL. */
export const canRenew = ({ reset, resetDay, resetMax, resetCount }: RenewalTerms): boolean =>
  (reset > 0 || resetDay > 0) && (resetMax === 0 || resetCount < resetMax);
