// For plugins that let somebody see and change some clients only, and count what is given to them. Part of contract.ts.
import { type Principal, token, type Tx } from '../../../kernel/index.js';
import { type Applied, DONE } from '../../engine/contract.js';
import type { PageQuery } from '../lists/page-schema.js';
import type { SomeClient, SomeClientRenewal } from '../lists/some-clients.js';
import type { ClientRow } from '../model/row.js';
import type { AddClient, ClientPatch } from '../model/schema.js';
import type { StoredLimits } from '../model/stored-limits.js';

/** Work in the transaction of one edit; an error undoes the edit. */
export interface Settlement {
  /** before anything is written */
  before(tx: Tx): Promise<void>;
  /** when the client is written, or deleted */
  after(tx: Tx, id: number): Promise<void>;
}
/** An edit that is done. */
export interface SettledEdit {
  readonly id: number;
  readonly applied: Applied;
}
/** The settlement, and behind it the note of `once` for a repeated call, which waits for no core. */
export const withNote = (
  { before, after }: Settlement,
  note: ((done: SettledEdit) => void) | undefined,
): Settlement => ({
  before,
  after: async (tx, id) => {
    await after(tx, id);
    note?.({ id, applied: DONE });
  },
});
/** The fields that were sent: one that was not is no key. */
export const sentFields = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** What an edit does with one client. */
export interface SettledChange {
  readonly patch?: ClientPatch;
  /** its usage starts again at zero; one that somebody disabled stays disabled */
  readonly resets?: boolean;
  readonly attach?: readonly number[];
  readonly detach?: readonly number[];
}
/** Edits of single clients, with the checks of the API, of which another plugin writes its part in the same transaction. Do not call them inside a write. */
export interface SettledEditsApi {
  add(sent: AddClient, who: Principal, settlement: Settlement): Promise<SettledEdit>;
  change(id: number, change: SettledChange, who: Principal, settlement: Settlement): Promise<SettledEdit>;
  /** A renewal by hand: it starts from the end that the previous one, or an adjustment, has made. */
  renew(id: number, sent: SomeClientRenewal, who: Principal, settlement: Settlement): Promise<SettledEdit>;
  delete(id: number, who: Principal, settlement: Settlement): Promise<SettledEdit>;
  /** Limits and usage as the transaction sees them, by id; bytes are those over all inbounds and machines. Memory may lack the write before. */
  limitsOf(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, StoredLimits>>;
  /** The group of a client as the transaction sees it, blank for none; undefined for a client that is gone. */
  groupOf(tx: Tx, id: number): Promise<string | undefined>;
}
export const SettledEdits = token<SettledEditsApi>('clients', 'SettledEdits');

/** A page of some clients. */
export interface SomeClients {
  /** how many of them the filter shows */
  readonly filtered: number;
  readonly page: number;
  readonly pageSize: number;
  /** live: read them at once */
  readonly rows: readonly ClientRow[];
  /** over all of them, whatever the filter shows; a client may be counted in several */
  readonly counts: Readonly<
    Record<'total' | 'active' | 'deactive' | 'depleted' | 'expiring' | 'online', number>
  >;
}
export interface ClientPagesApi {
  /** A page of the clients with these ids, as if there were no others: costs them, not all clients. */
  pageOf(ids: Iterable<number>, query: PageQuery): Promise<SomeClients>;
  /** Ids of the clients in a group, with the case of its name. Live: do not keep it. */
  inGroup(name: string): ReadonlySet<number>;
  /** A client as an admin sees it who may see some clients only. */
  shown(row: ClientRow): SomeClient;
}
export const ClientPages = token<ClientPagesApi>('clients', 'ClientPages');
