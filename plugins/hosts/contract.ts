// Hosts: further addresses of inbounds, as subscriptions show them.
import { after, during, type Principal, token } from '../../kernel/index.js';
import type { HostGroup } from './memory.js';

export type { HostGroup, HostRow } from './memory.js';
export type { HostFields } from './fields.js';

export interface HostChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: HostGroup | undefined;
  readonly after: HostGroup | undefined;
}
/** Runs in the transaction that adds, changes or deletes host groups. When an inbound is deleted, its rows go without a call: tap duringInboundSave. */
export const duringHostSave = during<{ readonly changes: readonly HostChange[]; readonly who: Principal }>(
  'hosts/duringHostSave',
);
/** Runs after the commit and before the reply: for data that other plugins derive from hosts. */
export const afterHostSave = after<{ readonly changes: readonly HostChange[]; readonly who: Principal }>(
  'hosts/afterHostSave',
);

/** The edits of the API, with the same checks. Do not call it inside a write. */
export interface HostEditsApi {
  /** Whether there is a group with this id. */
  has(groupId: string): boolean;
  /** Adds a group; `group` as `hosts/add` takes it. Rejects with GROUP_TAKEN, INBOUNDS_NOT_FOUND or KERNEL_INVALID. */
  add(group: unknown, who: Principal): Promise<void>;
  /** Checks the fields of a group, not its inbounds. Throws KERNEL_INVALID. */
  check(group: unknown): void;
}
export const HostEdits = token<HostEditsApi>('hosts', 'HostEdits');
