// Fallbacks of inbounds, for plugins that follow their changes.
import { during, type Principal } from '../../kernel/index.js';
import type { Fallback } from './schema.js';

export type { Fallback } from './schema.js';

export interface FallbackChange {
  /** the inbound that has them */
  readonly masterId: number;
  /** all of them, in order */
  readonly before: readonly Fallback[];
  /** without ids */
  readonly after: readonly Omit<Fallback, 'id'>[];
}
/** Runs in the transaction that replaces the fallbacks of an inbound. With an inbound they go without a call. */
export const duringFallbackSave = during<{
  readonly changes: readonly FallbackChange[];
  readonly who: Principal;
}>('fallbacks/duringFallbackSave');
