// All clients in memory, as a projection of the database, with the same rules for case and order on any database.
import { type Database, TimeSlice } from '../../../kernel/index.js';
import type { Credential } from '../../inbounds/contract.js';
import type { ClientUsage } from '../contract.js';
import { mergedCredentials } from '../credentials/merged.js';
import { eachCredential } from '../credentials/statements.js';
import type { Fetch } from '../usage/counters.js';
import {
  type ClientFields,
  emailKey,
  indexedFields,
  reverseTag,
  type UniqueField,
  uniqueFields,
  uniqueKey,
} from './fields.js';
import { GroupIndex } from './group-index.js';
import { MOST_STEPS, RosterJournals } from './journal.js';
import { RowIndex } from './row-index.js';
import { type ClientRow, readRow, rowOf } from './row.js';
import { SearchText } from './search-text.js';
import { SharedLists } from './shared-lists.js';
import { lowerBound, merge } from './sorted-rows.js';
import { MAX_BYTES, readRows, ROWS_PER_SELECT, type StoredRow } from './stored-rows.js';
import { clientVersion } from './version.js';

/** What changes of one client. */
export interface RowEdit {
  readonly id: number;
  readonly fields: Partial<ClientFields & Pick<ClientRow, 'up' | 'down'>>;
  /** Differences, not results: of two concurrent edits, both count. */
  readonly attach?: readonly number[];
  readonly detach?: readonly number[];
  /** made or changed, by inbound; those of `detach` go by themselves */
  readonly credentials?: ReadonlyMap<number, Credential> | undefined;
}

/** What one write changes of the roster. */
export interface RosterChange {
  readonly added?: readonly ClientRow[];
  readonly edited?: readonly RowEdit[];
  readonly deleted?: readonly number[];
  readonly deletedInbounds?: readonly number[];
  /** an inbound with other credentials for all its clients, by client */
  readonly renewed?: {
    readonly inboundId: number;
    readonly credentials: ReadonlyMap<number, Credential>;
  };
  readonly usage?: readonly ClientUsage[];
  readonly fetches?: readonly Fetch[];
  /** Unix ms of the usage */
  readonly at?: number;
}

/** Rows that are added and deleted one by one. */
const FEW = 16;

export class Roster {
  readonly isComparedApart = true;
  readonly #byId = new Map<number, ClientRow>();
  /** by what must be unique */
  readonly #owners = Object.fromEntries(
    uniqueFields.map((name) => [
      name,
      new RowIndex(
        (row) => uniqueKey(name, row[name]),
        (id) => this.#byId.get(id),
      ),
    ]),
  ) as Readonly<Record<UniqueField, RowIndex>>;
  /** by subId: the clients that share one, by id */
  readonly #sharing = new Map<string, readonly ClientRow[]>();
  /** by the tag of their reverse tunnel; few have one */
  readonly #reverseOwners = new Map<string, ClientRow>();
  /** Kept sorted, so that a page costs a slice and not a sort. */
  readonly #ordered: { id: ClientRow[]; email: ClientRow[] } = { id: [], email: [] };
  readonly lists = new SharedLists();
  readonly search = new SearchText();
  /** A roster that was loaded again has journals of its own. */
  readonly journals = new RosterJournals();
  readonly groups = new GroupIndex();

  /** All clients, or at most about `most` of those with higher ids than `after`. */
  static async load(
    db: Pick<Database, 'query' | 'sql'>,
    { after = 0, most = Infinity }: { readonly after?: number; readonly most?: number } = {},
  ): Promise<Roster> {
    const roster = new Roster();
    const slice = new TimeSlice();
    let next: Promise<StoredRow[]> | undefined = readRows(db, after);
    for (let from = after; next; ) {
      const rows: StoredRow[] = await next;
      const upTo = rows.at(-1)?.id ?? from;
      const isLast = rows.length < ROWS_PER_SELECT || roster.size + rows.length >= most;
      // The database reads the next ones while these are put into memory.
      next = isLast ? undefined : readRows(db, upTo);
      next?.catch(() => undefined);
      for (const { stored } of rows) {
        if (slice.isOver) await slice.next();
        roster.#append(stored);
      }
      await eachCredential(db, { after: from, upTo }, (clientId, inboundId, credential) => {
        const row = roster.#byId.get(clientId);
        if (row) row.credentials = mergedCredentials(row.credentials, new Map([[inboundId, credential]]), []);
      });
      from = upTo;
    }
    if (slice.isOver) await slice.next();
    roster.#ordered.email = await merge([], [], roster.#ordered.id, (row) => emailKey(row.email), slice);
    return roster;
  }

  #append(stored: string): void {
    const row = readRow(stored, (list) => this.lists.read(list));
    this.#index(row);
    this.#ordered.id.push(row);
  }

  get size(): number {
    return this.#byId.size;
  }
  byId(id: number): ClientRow | undefined {
    return this.#byId.get(id);
  }
  byEmail(email: string): ClientRow | undefined {
    return this.#owners.email.get(emailKey(email));
  }
  bySubId(subId: string): ClientRow | undefined {
    return this.#owners.subId.get(subId);
  }
  sharing(subId: string): readonly ClientRow[] | undefined {
    return this.#sharing.size === 0 ? undefined : this.#sharing.get(subId);
  }
  owner(name: UniqueField, value: string): ClientRow | undefined {
    return this.#owners[name].get(uniqueKey(name, value));
  }
  /** The client whose reverse tunnel has this tag. */
  ownerOfReverse(tag: string): ClientRow | undefined {
    return this.#reverseOwners.get(tag);
  }
  /** All rows, by id or by email. */
  ordered(by: 'id' | 'email'): readonly ClientRow[] {
    return this.#ordered[by];
  }

  #index(row: ClientRow): void {
    this.#byId.set(row.id, row);
    this.search.changed(row.id);
    this.groups.add(row);
    const first = this.#owners.subId.get(row.subId);
    for (const name of uniqueFields) this.#owners[name].set(row);
    if (first && first !== row) this.#share(row.subId, [...(this.sharing(row.subId) ?? [first]), row]);
    const tag = reverseTag(row.reverse);
    // Rows of before tags were unique may share one: the first has it.
    if (tag !== undefined && !this.#reverseOwners.has(tag)) this.#reverseOwners.set(tag, row);
  }

  #share(subId: string, rows: readonly ClientRow[]): void {
    const sorted = rows.toSorted((a, b) => a.id - b.id);
    if (sorted.length > 1) this.#sharing.set(subId, sorted);
    else this.#sharing.delete(subId);
    this.#owners.subId.set(sorted[0] as ClientRow);
  }

  #unindex(row: ClientRow): void {
    this.groups.delete(row);
    for (const name of uniqueFields) this.#owners[name].delete(uniqueKey(name, row[name]));
    const shared = this.sharing(row.subId);
    if (shared)
      this.#share(
        row.subId,
        shared.filter((other) => other !== row),
      );
    const tag = reverseTag(row.reverse);
    if (tag !== undefined && this.#reverseOwners.get(tag) === row) this.#reverseOwners.delete(tag);
    this.search.changed(row.id);
  }

  /** Applies one write. Readers may see a half-applied write; writes are applied one after another. */
  async apply(change: RosterChange): Promise<void> {
    const { added = [], edited = [], deleted = [], deletedInbounds = [], usage = [], fetches = [] } = change;
    const slice = new TimeSlice();
    // One row costs a splice in each list, 40 µs of 100,000 rows; many cost less in one pass.
    if (added.length + deleted.length > FEW) await this.#mergeAll(added, deleted, slice);
    else {
      for (const row of added) {
        if (slice.isOver) await slice.next();
        this.#add(rowOf(row));
      }
      for (const id of deleted) {
        if (slice.isOver) await slice.next();
        this.#delete(id);
      }
    }
    for (const edit of edited) {
      if (slice.isOver) await slice.next();
      this.#edit(edit);
    }
    for (const inboundId of deletedInbounds) this.#detachAll(inboundId);
    if (change.renewed) this.#renew(change.renewed);
    if (usage.length > 0) await this.#addUsage(usage, change.at ?? 0, slice);
    for (const [id, at] of fetches) {
      const row = this.#byId.get(id);
      if (row && at > row.lastSubFetch) row.lastSubFetch = at;
    }
  }

  #add(row: ClientRow): void {
    this.#index(row);
    const { id, email } = this.#ordered;
    const place = this.#placeById(row.id);
    id.splice(place, 0, row);
    email.splice(this.#place(row), 0, row);
    this.journals.edited('added', place);
  }

  #placeById(id: number): number {
    return lowerBound(this.#ordered.id, (other) => other.id < id);
  }
  #place(row: ClientRow): number {
    const key = emailKey(row.email);
    return lowerBound(this.#ordered.email, (other) => emailKey(other.email) < key);
  }

  #edit({ id, fields: changed, attach = [], detach = [], credentials }: RowEdit): void {
    const row = this.#byId.get(id);
    if (!row) return;
    const renamed = changed.email !== undefined && changed.email !== row.email;
    if (renamed) this.#ordered.email.splice(this.#place(row), 1);
    // After as many that went and came as there are, V8 copies a map: all of these in one edit.
    const isMoved = indexedFields.some((name) => name in changed && changed[name] !== row[name]);
    if (isMoved) this.#unindex(row);
    Object.assign(row, changed);
    if (attach.length + detach.length > 0)
      row.inboundIds = this.lists.of(
        [...row.inboundIds, ...attach].filter((inboundId) => !detach.includes(inboundId)),
      );
    row.credentials = mergedCredentials(row.credentials, credentials, detach);
    clientVersion.changed(row);
    if (isMoved) this.#index(row);
    else this.search.changed(id);
    if (renamed) this.#ordered.email.splice(this.#place(row), 0, row);
    this.journals.edited('edited', this.#placeById(id));
  }

  #delete(id: number): void {
    const row = this.#byId.get(id);
    if (!row) return;
    const place = this.#placeById(id);
    this.#ordered.id.splice(place, 1);
    this.#ordered.email.splice(this.#place(row), 1);
    this.#unindex(row);
    this.#byId.delete(id);
    this.journals.edited('deleted', place);
  }

  #detachAll(inboundId: number): void {
    for (const row of this.#byId.values())
      if (row.inboundIds.includes(inboundId)) {
        row.inboundIds = this.lists.of(row.inboundIds.filter((id) => id !== inboundId));
        row.credentials = mergedCredentials(row.credentials, undefined, [inboundId]);
        clientVersion.changed(row);
      }
    this.journals.clear();
  }

  #renew({ inboundId, credentials }: NonNullable<RosterChange['renewed']>): void {
    for (const row of this.#byId.values()) {
      const made = credentials.get(row.id);
      row.credentials = made
        ? mergedCredentials(row.credentials, new Map([[inboundId, made]]), [])
        : mergedCredentials(row.credentials, undefined, [inboundId]);
      clientVersion.changed(row);
    }
    this.journals.clear();
  }

  async #addUsage(usage: readonly ClientUsage[], at: number, slice: TimeSlice): Promise<void> {
    const isLong = usage.length > MOST_STEPS;
    for (const { clientId, up, down } of usage) {
      if (slice.isOver) await slice.next();
      const row = this.#byId.get(clientId);
      if (!row) continue;
      row.up = Math.min(row.up + up, MAX_BYTES);
      row.down = Math.min(row.down + down, MAX_BYTES);
      row.lastOnline = Math.max(row.lastOnline, at);
      if (!isLong) this.journals.all.note('edited', this.#placeById(clientId));
    }
    if (isLong) this.journals.all.clear();
  }

  /** Adds and deletes in one pass over all rows. */
  async #mergeAll(added: readonly ClientRow[], deleted: readonly number[], slice: TimeSlice): Promise<void> {
    const gone: ClientRow[] = [];
    const rows: ClientRow[] = [];
    for (const id of deleted) {
      if (slice.isOver) await slice.next();
      const row = this.#byId.get(id);
      if (!row) continue;
      gone.push(row);
      this.#unindex(row);
      this.#byId.delete(id);
    }
    for (const given of added) {
      if (slice.isOver) await slice.next();
      const row = rowOf(given);
      rows.push(row);
      this.#index(row);
    }
    const byId = await merge(this.#ordered.id, gone, rows, ({ id }) => id, slice);
    const byEmail = await merge(this.#ordered.email, gone, rows, (row) => emailKey(row.email), slice);
    Object.assign(this.#ordered, { id: byId, email: byEmail });
    // A search meanwhile has read the previous lists.
    for (const { id } of [...gone, ...rows]) this.search.changed(id);
    this.journals.clear();
  }
}
