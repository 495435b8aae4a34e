// Clients: the accounts that use the core.
import {
  after,
  during,
  event,
  extensionPoint,
  guard,
  prepare,
  type Principal,
  token,
  type Tx,
} from '../../kernel/index.js';
import type { Applied } from '../engine/contract.js';
import type { Baseline } from './groups/group-store.js';
import type { ClientRow } from './model/row.js';
import { type AddClient, ClientPatch } from './model/schema.js';

export { type ClientRow, depletionOf, type Depletion } from './model/row.js';
export { errors as clientErrors } from './errors.js';

/** Bytes to add to what a client used through an inbound. */
export interface ClientUsage {
  readonly clientId: number;
  readonly inboundId: number;
  readonly up: number;
  readonly down: number;
}

export interface ClientsApi {
  /** Rows are live: read them at once and keep none. */
  byId(id: number): ClientRow | undefined;
  byEmail(email: string): ClientRow | undefined;
  bySubId(subId: string): ClientRow | undefined;
  /** All, by id. For what is about all of them; a change of few has no business here. */
  all(): Iterable<Readonly<ClientRow>>;
  /** Ids of enabled clients whose time is over at this moment (Unix ms). */
  expired(now: number): Promise<number[]>;
  /** Bytes become part of the clients' totals with the commit; clients that are gone are passed over. */
  addUsage(tx: Tx, usage: readonly ClientUsage[], at: number): Promise<void>;
  /** Bytes that clients moved who were deleted with their traffic kept: they go to what is kept of the email. */
  addKeptUsage(
    tx: Tx,
    usage: readonly (Omit<ClientUsage, 'clientId'> & { readonly email: string })[],
    at: number,
  ): Promise<void>;
  /** Marks the moment from which a duration (negative expiry) counts. */
  startExpiry(tx: Tx, ids: readonly number[], now: number, who: Principal): Promise<void>;
  /** Switches clients off because of a limit; raising the limit switches them on again. */
  deplete(
    tx: Tx,
    clients: readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
    who: Principal,
  ): Promise<void>;
  /** Written in batches; at most a second of it is lost in a crash. */
  fetched(clientId: number, at: number): void;
}
export interface ClientChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: Readonly<ClientRow> | undefined;
  readonly after: Readonly<ClientRow> | undefined;
}
export const Clients = token<ClientsApi>('clients', 'Clients');

/** The same edits as over the API, with the same checks. Not inside a write. `who` is whoever asked the calling plugin, or its `self`. */
export interface ClientEditsApi {
  add(client: AddClient, who: Principal): Promise<Applied>;
  /** Sets what the clients of these inbounds used to zero; those that were off because of their quota come back. `also` is written in the same transaction. */
  resetTrafficOf(
    inboundIds: readonly number[],
    who: Principal,
    also: (tx: Tx) => Promise<void>,
  ): Promise<Applied>;
}
export const ClientEdits = token<ClientEditsApi>('clients', 'ClientEdits');

/** Who is online, as those know who can tell; one that says so is enough. Asked for every client of a list. */
export interface PresenceSource {
  isOnline(clientId: number): boolean;
}
/** Those who can tell who is online; a client is as soon as one of them says so. */
export const PresenceSources = extensionPoint<PresenceSource>('clients', 'PresenceSources', ({ isOnline }) =>
  typeof isOnline === 'function' ? undefined : 'it needs a function isOnline',
);

/** Fields of clients as they were sent and passed the schema, before rules are checked and blanks are filled in: for defaults and for one way to write things. Called for everything that sets fields: an add, an import, an edit, a bulk call. `targets` has one entry for each item; `before` is undefined for a new client. */
export const prepareClientSave = prepare<
  ClientPatch,
  {
    readonly targets: readonly {
      readonly before: Readonly<ClientRow> | undefined;
      readonly inboundIds: readonly number[];
    }[];
    readonly who: Principal;
  }
>('clients/prepareClientSave', ClientPatch);
/** Before clients are written; a refusal refuses the whole call. */
export const beforeClientSave = guard<{
  readonly changes: readonly ClientChange[];
  readonly who: Principal;
}>('clients/beforeClientSave');
/** Before clients are deleted, while the core still knows them; a refusal refuses the whole call. */
export const beforeClientDelete = guard<{
  readonly clients: readonly { readonly id: number; readonly email: string }[];
  /** what they used is kept for a client of the same email */
  readonly keepTraffic: boolean;
  readonly who: Principal;
}>('clients/beforeClientDelete');
/** In the transaction that adds, changes or deletes clients, limits that switch them off included; not where bytes are counted. One call for all of a bulk call. The rows hold credentials. */
export const duringClientSave = during<{
  readonly changes: readonly ClientChange[];
  readonly who: Principal;
}>('clients/duringClientSave');

/** A group that was created; one that is only a name on clients has no row, and no change of its own. */
export interface GroupChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: (Baseline & { readonly name: string }) | undefined;
  readonly after: (Baseline & { readonly name: string }) | undefined;
}
/** In the transaction that changes groups by somebody's word; the clients in them come with `duringClientSave`. */
export const duringGroupSave = during<{
  readonly changes: readonly GroupChange[];
  readonly who: Principal;
}>('clients/duringGroupSave');
/** After clients were written by anybody but the counters, before the caller has its answer: for what is kept of clients in memory. */
export const afterClientSave = after<{
  readonly changes: readonly ClientChange[];
  readonly who: Principal;
}>('clients/afterClientSave');
/** The same for who need not be awaited. What traffic and limits change of a client is not among it: `traffic/clientDepleted`. */
export const clientChanged = event<{
  readonly changes: readonly ClientChange[];
  readonly who: Principal;
}>('clients/clientChanged');
