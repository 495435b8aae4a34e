// Warnings before a client reaches a limit.
import { during } from '../../kernel/index.js';

/** A client that is near a limit. */
export interface LimitWarning {
  readonly kind: 'quota' | 'expiry';
  readonly id: number;
  readonly email: string;
  /** its id at a messenger; 0 without one */
  readonly messengerId: number;
  /** bytes that it used, and may use; `total` is 0 without a quota */
  readonly used: number;
  readonly total: number;
  /** Unix ms; 0 without one */
  readonly expiryTime: number;
}
/** Runs in the transaction that notes that clients are near a limit: what a tap writes with its `tx` happens once for each client, limit and period, however the panel ends. At most 250 at once. */
export const duringLimitWarning = during<{ readonly at: number; readonly warnings: readonly LimitWarning[] }>(
  'limit-warnings/duringLimitWarning',
);
