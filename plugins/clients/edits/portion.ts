// Bulk work by filter, portion by portion, as other plugins ask for it.
import { type Principal, token, type Tx } from '../../../kernel/index.js';
import type { Applied } from '../../engine/contract.js';
import type { ClientFilter } from '../lists/page-schema.js';
import type { BulkAction, BulkActionName } from './bulk-actions.js';

/** A client that was chosen, with the email that it had then. */
export interface Target {
  readonly id: number;
  readonly email: string;
}
/** `isPartly`: the rest of the action was done. */
export interface SkippedTarget extends Target {
  readonly code: string;
  readonly reason: string;
  readonly isPartly: boolean;
}
/** What becomes of each client of a portion: the numbers and the skipped ones that are not partly so are all of them. */
export interface PortionOutcome {
  readonly changed: number;
  /** were as wanted before */
  readonly unchanged: number;
  readonly skipped: readonly SkippedTarget[];
}
export interface Portion {
  readonly action: BulkAction;
  readonly targets: readonly Target[];
  /** clients that no longer pass it are skipped */
  readonly filter?: ClientFilter | undefined;
}

/** The bulk endpoints, for work on more clients than one call names. Do not call it inside a write. */
export interface ClientPortionsApi {
  /** Checks what was sent as `filter`; unlike the list, refuses what it does not know. */
  filter(sent: unknown): ClientFilter;
  /** Checks what was sent as `params`, against the inbounds of this moment. */
  action(name: BulkActionName, params: unknown): BulkAction;
  /** All clients that the list shows with this filter, by id. */
  matching(filter: ClientFilter): Promise<Target[]>;
  /** The clients with these emails, each once, and the emails that no client has. */
  named(emails: readonly string[]): { readonly targets: Target[]; readonly unknown: readonly string[] };
  /**
   * Does the action to some clients, in one transaction that `settle` is part of: what it writes is stored with the
   * change. Clients that are deleted or changed between plan and transaction are skipped. The caller records the work:
   * `audit` has no entry for each client.
   */
  run(
    portion: Portion,
    who: Principal,
    settle: (tx: Tx, outcome: PortionOutcome) => Promise<void>,
  ): Promise<Applied>;
}
export const ClientPortions = token<ClientPortionsApi>('clients', 'ClientPortions');
