// Balancers of the JSON subscription, for plugins that follow their changes.
import { during, type Principal } from '../../kernel/index.js';
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
