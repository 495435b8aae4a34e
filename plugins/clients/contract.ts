// Clients: the accounts that use the core.
import {
  after,
  type Database,
  during,
  event,
  extensionPoint,
  guard,
  prepare,
  type PanelError,
  type Principal,
  token,
  type Tx,
} from '../../kernel/index.js';
import type { Applied, CoreUser, UserRef } from '../engine/contract.js';
import type { GroupChange } from './groups/group-store.js';
import type { RenewalTerms } from './model/renewal.js';
import type { UniqueField } from './model/fields.js';
import type { ClientRow } from './model/row.js';
import {
  type AddClient,
  ClientPatch,
  PART_NAMES,
  type PartName,
  type TrafficRecord,
} from './model/schema.js';
import type { Schedule } from './model/value-schemas.js';

export { depletionOf, type Depletion } from './model/depletion.js';
export { canRenew, type RenewalTerms } from './model/renewal.js';
export type { Schedule } from './model/value-schemas.js';
export type { GroupChange } from './groups/group-store.js';
export type { ClientRow } from './model/row.js';
export {
  type Arrival,
  type ArrivingClient,
  ClientArrivals,
  type ClientArrivalsApi,
  type Skipped,
} from './import/arriving.js';
export { type BulkAction, type BulkActionName, bulkActions, BulkParams } from './edits/bulk-actions.js';
export {
  ClientPortions,
  type ClientPortionsApi,
  type Portion,
  type PortionOutcome,
  type SkippedTarget,
  type Target,
} from './edits/portion.js';
export { sentEmails } from './edits/request-schemas.js';
export {
  ClientPages,
  type ClientPagesApi,
  sentFields,
  type SettledChange,
  type SettledEdit,
  SettledEdits,
  type SettledEditsApi,
  type Settlement,
  type SomeClients,
  withNote,
} from './edits/settled.js';
export { ClientFilter, PageQuery } from './lists/page-schema.js';
export {
  SomeClient,
  SomeClientRenewal,
  someClientShapes,
  SomeClientsQuery,
  someInbounds,
} from './lists/some-clients.js';
export { errors as clientErrors } from './errors.js';
export { clientSettings } from './settings.js';

/** Bytes to add to what a client used through an inbound. */
export interface ClientUsage {
  readonly clientId: number;
  readonly inboundId: number;
  readonly up: number;
  readonly down: number;
}

/** Rows are live: read them at once and keep none. */
export interface ClientsApi {
  byId(id: number): ClientRow | undefined;
  byEmail(email: string): ClientRow | undefined;
  /** Of several clients with this subId, the one that was first. */
  bySubId(subId: string): ClientRow | undefined;
  /** The client that keeps this value of a field from all others. To the core two UUIDs can be the same: compare what you get. */
  owner(field: UniqueField, value: string): ClientRow | undefined;
  /** All clients with this subId, by id, where an import gave it to several; undefined nearly always. */
  sharing(subId: string): readonly ClientRow[] | undefined;
  /** All clients, by id. Only for work on all of them: a change of a few must not cost a pass over all. */
  all(): Iterable<Readonly<ClientRow>>;
  /** Ids of enabled clients that are expired at this moment (Unix ms). */
  expired(now: number): Promise<number[]>;
  /** Ids of enabled clients whose expiry is after one moment and not after another (Unix ms); costs those, not all. */
  expiring(after: number, until: number): Promise<number[]>;
  /** Which of these clients are enabled and at a limit. Inside a write, memory may lack the write before it. */
  atLimit(tx: Tx, ids: readonly number[], now: number): Promise<Set<number>>;
  /** Adds bytes to the totals of clients, with the commit. Deleted clients are skipped. */
  addUsage(tx: Tx, usage: readonly ClientUsage[], at: number): Promise<void>;
  /** Adds bytes of clients that were deleted with `keepTraffic` to what is retained for their emails. */
  addKeptUsage(
    tx: Tx,
    usage: readonly (Omit<ClientUsage, 'clientId'> & { readonly email: string })[],
    at: number,
  ): Promise<void>;
  /** Starts the duration of clients with a negative expiry. */
  startExpiry(tx: Tx, ids: readonly number[], now: number, who: Principal): Promise<void>;
  /** Sets what clients used on other machines, which counts for their quota; disables clients that are at it and enables those that no longer are. Returns the ids of these, which the core must get. */
  setElsewhere(
    tx: Tx,
    usage: readonly { readonly id: number; readonly up: number; readonly down: number }[],
    now: number,
    who: Principal,
  ): Promise<Set<number>>;
  /** Disables clients because of a limit; raising the limit enables them again. */
  deplete(
    tx: Tx,
    clients: readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
    who: Principal,
  ): Promise<void>;
  /** Records a fetch of the subscription. Written in batches: a crash loses at most 10 s. */
  fetched(clientId: number, at: number): void;
}
/** What was sent for a new client beside its fields, by name of the part. */
export type SentParts = { readonly [K in PartName]?: readonly unknown[] | null | undefined };
export interface ClientChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: Readonly<ClientRow> | undefined;
  readonly after: Readonly<ClientRow> | undefined;
  /** of a new client, as `check` of each part returned it; its plugin stores it in `duringClientSave` */
  readonly parts?: SentParts | undefined;
  /** Added again with its id, after its deletion: the core may have counters of it. */
  readonly returns?: true;
  /** the counters were reset or set, perhaps to what they were */
  readonly setsUsage?: true;
  /** part of work on many clients that its owner records as a whole */
  readonly isRecorded?: true;
  /** Another plugin writes its part about it in the same transaction, by `SettledEdits`. */
  readonly isSettled?: true;
}
export const Clients = token<ClientsApi>('clients', 'Clients');

/** What a client used, with its limits, as `clients/traffic/{email}` shows it. */
export interface ClientTrafficApi {
  of(row: ClientRow): TrafficRecord;
}
export const ClientTraffic = token<ClientTrafficApi>('clients', 'ClientTraffic');

/** Users that the core must not have although their rows say otherwise: a limit is reached and the database cannot be written, or their last bytes are counted before they go. In memory only. */
export interface WithheldUsersApi {
  /** Withholds the users of these clients and of these inbounds, and none that `by`, a plugin, has withheld before; resolves when the core follows. */
  replace(by: string, users: Withheld): Promise<void>;
}
export interface Withheld {
  readonly clients: ReadonlySet<number>;
  readonly inbounds: ReadonlySet<number>;
}
export const WithheldUsers = token<WithheldUsersApi>('clients', 'WithheldUsers');

/** Users of inbounds that a program beside the core runs, as they should be now: enabled, within their limits, not withheld. From memory. */
export interface ProgramUsersApi {
  user(ref: UserRef): CoreUser | undefined;
  users(inboundId: number): Iterable<CoreUser>;
  /** Ids of the clients that are attached to the inbound, enabled or not: for passes over many that let other work go on. */
  attached(inboundId: number): readonly number[];
  /** Whether the client is attached to the inbound, enabled or not. */
  isAttached(ref: UserRef): boolean;
}
export const ProgramUsers = token<ProgramUsersApi>('clients', 'ProgramUsers');

/** A client whose expiry is over and that can renew. */
export type Renewable = RenewalTerms & Pick<ClientRow, 'id' | 'email' | 'expiryTime'>;
export interface PeriodEdit {
  readonly id: number;
  readonly fields: Partial<Pick<ClientRow, 'expiryTime' | 'resetCount' | 'countedSince'>>;
  /** a new period begins: counters start at zero, and a client that a limit disabled is enabled if none holds it any more */
  readonly isNew: boolean;
}
/** Clients whose time starts again, by a renewal or by their own `trafficReset`. Finding them costs those that are due, not all. `db` is the database or the transaction. */
export interface ClientPeriodsApi {
  /** Clients that are due to renew, the longest expired first; none that an admin disabled. */
  renewable(db: Pick<Database, 'query'>, now: number, limit: number): Promise<Renewable[]>;
  /** Ids of clients that count since before the start of their present period; none that an admin disabled or that are expired. */
  withEndedPeriod(
    db: Pick<Database, 'query'>,
    startOf: (schedule: Exclude<Schedule, 'never'>, day: number) => number,
    now: number,
    limit: number,
  ): Promise<number[]>;
  /** Writes them; returns the ids of those that are enabled by it, which the core must get. A group keeps the traffic of its members. */
  save(tx: Tx, edits: readonly PeriodEdit[], now: number, who: Principal): Promise<Set<number>>;
}
export const ClientPeriods = token<ClientPeriodsApi>('clients', 'ClientPeriods');

/** What a client brings from the panel that has it. */
export type WantedUsage = Pick<ClientRow, 'up' | 'down' | 'lastOnline' | 'lastSubFetch' | 'resetCount'>;
/** A client as another panel that manages it wants it to be. */
export interface WantedClient {
  /** the client that it is here; undefined for a new one */
  readonly id?: number | undefined;
  /** whole, as `add` takes it; fields that are left out get their initial values, except names and credentials. Null: it is to be gone. */
  readonly client: unknown;
  /** where it is to be attached */
  readonly inboundIds: readonly number[];
  /** Of these inbounds, it is detached from all others. A client that is to be gone stays, without them, while it is attached to further ones. */
  readonly managed: ReadonlySet<number>;
  /** its usage starts again at zero */
  readonly isNewPeriod?: boolean | undefined;
  /** of a new client: what it used at the panel that has it already, bytes and times in Unix ms */
  readonly used?: WantedUsage | undefined;
  /** the negative expiry that it was given before: if it is the same, a duration that has started goes on */
  readonly startedFrom?: number | undefined;
}
/** `id` is 0 for a client that is gone. */
export type WantedOutcome = { readonly id: number } | { readonly error: PanelError };

/** The edits of the API, with the same checks. Do not call it inside a write. `who` is the principal who asked the calling plugin, or its `self`. */
export interface ClientEditsApi {
  add(client: AddClient, who: Principal): Promise<Applied>;
  /** Makes clients what another panel wants them to be; those that cannot be are refused one by one. At most a thousand in one call. `also` is written in the transactions that write clients, with the places in the list and the ids of those that it writes. */
  make(
    wanted: readonly WantedClient[],
    who: Principal,
    also: (tx: Tx, made: ReadonlyMap<number, number>) => Promise<void>,
  ): Promise<readonly WantedOutcome[]>;
  /** Changes these fields of a client. */
  update(email: string, patch: ClientPatch, who: Principal): Promise<Applied>;
  /** Resets the usage of these clients and enables them, unless they are expired. Unknown emails are skipped. */
  resetTraffic(emails: readonly string[], who: Principal): Promise<Applied>;
  /** Resets the usage of all clients; those that an admin disabled stay disabled. */
  resetAllTraffic(who: Principal): Promise<Applied>;
  /** Resets the usage of the clients of these inbounds; clients that were disabled by their quota are enabled. `also` is written in the same transaction. */
  resetTrafficOf(
    inboundIds: readonly number[],
    who: Principal,
    also: (tx: Tx) => Promise<void>,
  ): Promise<Applied>;
}
export const ClientEdits = token<ClientEditsApi>('clients', 'ClientEdits');

/** Tells whether a client is online. Called for every client of a list. */
export interface PresenceSource {
  isOnline(clientId: number): boolean;
}
/** Presence sources: a client is online if one of them says so. */
export const PresenceSources = extensionPoint<PresenceSource>('clients', 'PresenceSources', ({ isOnline }) =>
  typeof isOnline === 'function' ? undefined : 'it needs a function isOnline',
);

/** Data of another plugin that belongs to a client: it is taken by add, bulkCreate and import beside the client's fields, and exported. */
export interface ClientPart {
  /** its key in these bodies, beside `client`, and in the reply of clients/get */
  readonly name: PartName;
  /** Validates what was sent for one client and returns it as it is to be stored; throws a PanelError that names the field. */
  check(sent: readonly unknown[]): readonly unknown[];
  /** What clients/get shows; without it nothing. */
  show?(clientId: number): unknown;
  /** What an export contains, in the form that `check` takes, by client id. Clients that have nothing are left out. `isInWrite`: a write is open, in which no other one may be opened. */
  export(clientIds: readonly number[], isInWrite: boolean): Promise<ReadonlyMap<number, readonly unknown[]>>;
}
/** Parts of clients; one plugin for each name. */
export const ClientParts = extensionPoint<ClientPart>(
  'clients',
  'ClientParts',
  ({ name, check }, _, others) => {
    if (!PART_NAMES.includes(name)) return `its name must be one of ${PART_NAMES.join(', ')}`;
    const other = others.find(({ value }) => value.name === name);
    if (other) return `the part ${name} already exists, in plugin ${other.plugin}`;
    return typeof check === 'function' ? undefined : 'it needs a function check';
  },
);

/** Knows what other panels counted for a client. Called for every client of a reply. */
export interface UsageSource {
  /** Bytes since the last reset; undefined if no panel reported any. */
  usageOf(clientId: number): { readonly up: number; readonly down: number } | undefined;
}
/** Usage sources: replies about clients show the greater of their numbers and our own, each for itself. `inbounds/list` shows our own alone, and limits act on our own alone. */
export const UsageSources = extensionPoint<UsageSource>('clients', 'UsageSources', ({ usageOf }) =>
  typeof usageOf === 'function' ? undefined : 'it needs a function usageOf',
);

/** Runs after fields of clients passed the schema, before rules are checked and blanks are filled in: for defaults and normal forms. Called for each write that sets fields: add, import, update, bulk call. `targets` has one entry for each item; `before` is undefined for a new client. */
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
/** Clients that one call writes. */
export interface SavedClients {
  readonly changes: readonly ClientChange[];
  readonly who: Principal;
}
/** Runs before clients are written; a refusal refuses the whole call. */
export const beforeClientSave = guard<SavedClients>('clients/beforeClientSave');
/** Runs before clients are deleted, while the core still has them; a refusal refuses the whole call. */
export const beforeClientDelete = guard<{
  readonly clients: readonly { readonly id: number; readonly email: string }[];
  /** their usage is retained for a client with the same email */
  readonly keepTraffic: boolean;
  readonly who: Principal;
}>('clients/beforeClientDelete');
/** Runs in the transaction that adds, updates or deletes clients, also when a limit disables them; not when bytes are counted. A bulk call is one call. The rows hold credentials. */
export const duringClientSave = during<SavedClients>('clients/duringClientSave');

/** Runs in the transaction that changes groups on request; `duringClientSave` reports their clients. */
export const duringGroupSave = during<{
  readonly changes: readonly GroupChange[];
  readonly who: Principal;
}>('clients/duringGroupSave');
/** Runs after clients were written, except by limits and counters, and before the caller gets the reply: for memory that depends on clients. */
export const afterClientSave = after<SavedClients>('clients/afterClientSave');
/** Runs after limits or new periods have enabled or disabled clients, for other panels of the database: `traffic` tells the core of its own panel. */
export const afterClientSwitch = after<{ readonly ids: readonly number[] }>('clients/afterClientSwitch');
/** Clients were written, except by limits and counters: the same changes as `afterClientSave`, as an event. For limits see `traffic/clientDepleted`. */
export const clientChanged = event<SavedClients>('clients/clientChanged');
