// Clients and groups of another panel, as other plugins hand them over.
import { type Principal, token } from '../../../kernel/index.js';
import type { Applied } from '../../engine/contract.js';
import type { WantedUsage } from '../contract.js';
import type { Baseline } from '../groups/group-store.js';

/** A client of another panel, with what belongs to it. */
export interface ArrivingClient {
  /** as `clients/import` takes it */
  readonly client: unknown;
  readonly inboundIds: readonly number[];
  readonly externalLinks?: readonly unknown[];
  readonly devices?: readonly unknown[];
  /** what it used there, bytes and times in Unix ms */
  readonly used: WantedUsage;
}
/** `index` counts from 0 in the list that was sent. */
export interface Skipped {
  readonly index: number;
  readonly email: string;
  readonly reason: string;
  readonly code: string;
}
/** Several calls that take in the clients of one panel: they may share a subId with each other. */
export interface Arrival {
  /** Adds them in one transaction, with their usage; those that cannot be added are skipped. At most a thousand in one call. */
  add(
    clients: readonly ArrivingClient[],
  ): Promise<{ readonly created: number; readonly skipped: readonly Skipped[]; readonly applied: Applied }>;
  /** The same without a write. Inbounds, and the credentials of one inbound, are not looked at. */
  check(
    clients: readonly ArrivingClient[],
  ): Promise<{ readonly created: number; readonly skipped: readonly Skipped[] }>;
  /** Attaches clients of this panel to further inbounds, in one transaction; `credentials` as `clients/update` takes them. Unknown emails are left out. */
  attach(
    clients: readonly {
      readonly email: string;
      readonly inboundIds: readonly number[];
      readonly credentials: readonly unknown[];
    }[],
  ): Promise<Applied>;
}
/** Takes in clients and groups of another panel. Do not call it inside a write. */
export interface ClientArrivalsApi {
  begin(who: Principal): Arrival;
  hasGroup(name: string): boolean;
  /** Creates the group; `baseline` is subtracted from what its clients used. Rejects with GROUP_TAKEN or KERNEL_INVALID. */
  addGroup(name: string, baseline: Baseline, who: Principal): Promise<void>;
  /** Why this group cannot be created; undefined when it can. */
  groupProblem(name: string, baseline: Baseline): string | undefined;
}
export const ClientArrivals = token<ClientArrivalsApi>('clients', 'ClientArrivals');
