// Balancers of the JSON subscription, for plugins that follow their changes.
import { during, type Principal, token } from '../../kernel/index.js';
import type { Balancer } from './fields.js';

export type { Balancer } from './fields.js';

export interface BalancerChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: Balancer | undefined;
  readonly after: Balancer | undefined;
}
/** Runs in the transaction that adds, changes or deletes a balancer on request. When an inbound is deleted, it is taken out without a call. */
export const duringBalancerSave = during<{
  readonly changes: readonly BalancerChange[];
  readonly who: Principal;
}>('sub-balancers/duringBalancerSave');

/** The edits of the API, with the same checks. Do not call it inside a write. */
export interface BalancerEditsApi {
  list(): readonly Balancer[];
  /** Adds a balancer; the body is that of `subBalancers.create`. Rejects with INVALID, TOO_MANY or INBOUNDS_NOT_FOUND. */
  add(balancer: unknown, who: Principal): Promise<void>;
  /** Does the checks of `add`, but for its inbounds. Throws INVALID. */
  check(balancer: unknown): void;
}
export const BalancerEdits = token<BalancerEditsApi>('sub-balancers', 'BalancerEdits');
