// All clients in memory, as a projection of the database. Lists, subscriptions and limits are answered from here, with
// the same rules for case and order on any database.
import { type Database, type SqlWords, TimeSlice } from '../../../kernel/index.js';
import type { Credential } from '../../inbounds/contract.js';
import type { ClientUsage } from '../contract.js';
import { mergedCredentials } from '../credentials/merged.js';
import { eachCredential } from '../credentials/statements.js';
import type { Fetch } from '../usage/counters.js';
import {
  type ClientFields,
  emailKey,
  fields,
  reverseTag,
  searchedFields,
  type UniqueField,
  uniqueFields,
  uniqueKey,
} from './fields.js';
import { type ClientRow, readRow, rowOf, type StoredClient } from './row.js';
import { lowerBound, merge } from './sorted-rows.js';

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

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
/** Rows of one SELECT. */
const ROWS_PER_SELECT = 10_000;
const selectWith = ({ least }: SqlWords): string => `
  SELECT c.id, ${fields.select('c')},
    (SELECT group_concat(inbound_id) FROM client_inbounds a WHERE a.client_id = c.id) AS inboundIds,
    coalesce((SELECT ${least}(sum(up), ${MAX_BYTES}) FROM client_usage u WHERE u.client_id = c.id), 0) AS up,
    coalesce((SELECT ${least}(sum(down), ${MAX_BYTES}) FROM client_usage u WHERE u.client_id = c.id), 0) AS down,
    coalesce(s.last_online, 0) AS lastOnline, coalesce(s.last_sub_fetch, 0) AS lastSubFetch
  FROM clients c LEFT JOIN client_seen s ON s.client_id = c.id WHERE c.id > :from ORDER BY c.id LIMIT :count`;

/** Shared by all rosters: after a reload no version comes back, so nothing computed from the previous one is reused. */
let version = 0;

export class Roster {
  readonly #byId = new Map<number, ClientRow>();
  /** by what must be unique */
  readonly #owners = Object.fromEntries(uniqueFields.map((name) => [name, new Map()])) as Readonly<
    Record<UniqueField, Map<string, ClientRow>>
  >;
  /** by the tag of their reverse tunnel; few have one */
  readonly #reverseOwners = new Map<string, ClientRow>();
  /** Kept sorted, so that a page costs a slice and not a sort. */
  readonly #ordered: { id: ClientRow[]; email: ClientRow[] } = { id: [], email: [] };
  readonly #inboundIdLists = new Map<string, readonly number[]>();
  readonly #texts = new WeakMap<ClientRow, string>();
  /** Grow with every edit of a client, and with every poll that moved bytes: what was computed from all rows is valid until then. */
  editsVersion = ++version;
  countsVersion = ++version;

  static async load(db: Database): Promise<Roster> {
    const roster = new Roster();
    for (let from = 0; ; ) {
      const rows = await db.query<StoredClient>(selectWith(db.sql), { from, count: ROWS_PER_SELECT });
      for (const stored of rows) roster.#append(stored);
      const upTo = rows.at(-1)?.id ?? from;
      await eachCredential(db, { after: from, upTo }, (clientId, inboundId, credential) => {
        const row = roster.#byId.get(clientId);
        if (row) row.credentials = mergedCredentials(row.credentials, new Map([[inboundId, credential]]), []);
      });
      if (rows.length < ROWS_PER_SELECT) break;
      from = upTo;
    }
    roster.#ordered.email.sort((a, b) => (emailKey(a.email) < emailKey(b.email) ? -1 : 1));
    return roster;
  }

  #append(stored: StoredClient): void {
    const inboundIds = (stored.inboundIds ?? '').split(',').filter(Boolean).map(Number);
    const row = readRow(stored, this.internInboundIds(inboundIds));
    this.#index(row);
    this.#ordered.id.push(row);
    this.#ordered.email.push(row);
  }

  /** Returns the ids sorted, each once. Most clients share their set of inbounds with many others, and its memory. */
  internInboundIds(inboundIds: readonly number[]): readonly number[] {
    const sorted = [...new Set(inboundIds)].sort((a, b) => a - b);
    const key = sorted.join();
    const known = this.#inboundIdLists.get(key);
    if (known) return known;
    this.#inboundIdLists.set(key, sorted);
    return sorted;
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
  /** The client that has this value of a unique field. */
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

  /** Lower-case text that a search looks into. */
  searchText(row: ClientRow): string {
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const text = searchedFields
      .map((name) => row[name] || '')
      .join('\n')
      .toLowerCase();
    this.#texts.set(row, text);
    return text;
  }

  #index(row: ClientRow): void {
    this.#byId.set(row.id, row);
    for (const name of uniqueFields) this.#owners[name].set(uniqueKey(name, row[name]), row);
    const tag = reverseTag(row.reverse);
    // Rows of before tags were unique may share one: the first has it.
    if (tag !== undefined && !this.#reverseOwners.has(tag)) this.#reverseOwners.set(tag, row);
  }

  #unindex(row: ClientRow): void {
    for (const name of uniqueFields) this.#owners[name].delete(uniqueKey(name, row[name]));
    const tag = reverseTag(row.reverse);
    if (tag !== undefined && this.#reverseOwners.get(tag) === row) this.#reverseOwners.delete(tag);
    this.#texts.delete(row);
  }

  /** Applies one write. Readers may see a half-applied write; writes are applied one after another. */
  async apply(change: RosterChange): Promise<void> {
    const { added = [], edited = [], deleted = [], deletedInbounds = [], usage = [], fetches = [] } = change;
    const slice = new TimeSlice();
    // One row costs a search and a splice in each list; many cost less in one pass over all rows.
    if (added.length + deleted.length > this.size / 16) await this.#mergeAll(added, deleted, slice);
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
    if (usage.length > 0) this.#addUsage(usage, change.at ?? 0);
    for (const [id, at] of fetches) {
      const row = this.#byId.get(id);
      if (row && at > row.lastSubFetch) row.lastSubFetch = at;
    }
  }

  #add(row: ClientRow): void {
    this.editsVersion = ++version;
    this.#index(row);
    const { id, email } = this.#ordered;
    id.splice(
      lowerBound(id, (other) => other.id < row.id),
      0,
      row,
    );
    email.splice(this.#place(row), 0, row);
  }

  #place(row: ClientRow): number {
    const key = emailKey(row.email);
    return lowerBound(this.#ordered.email, (other) => emailKey(other.email) < key);
  }

  #edit({ id, fields: changed, attach = [], detach = [], credentials }: RowEdit): void {
    const row = this.#byId.get(id);
    if (!row) return;
    this.editsVersion = ++version;
    const renamed = changed.email !== undefined && changed.email !== row.email;
    if (renamed) this.#ordered.email.splice(this.#place(row), 1);
    this.#unindex(row);
    Object.assign(row, changed);
    if (attach.length + detach.length > 0)
      row.inboundIds = this.internInboundIds(
        [...row.inboundIds, ...attach].filter((inboundId) => !detach.includes(inboundId)),
      );
    row.credentials = mergedCredentials(row.credentials, credentials, detach);
    this.#index(row);
    if (renamed) this.#ordered.email.splice(this.#place(row), 0, row);
  }

  #delete(id: number): void {
    const row = this.#byId.get(id);
    if (!row) return;
    this.editsVersion = ++version;
    const { id: byId } = this.#ordered;
    byId.splice(
      lowerBound(byId, (other) => other.id < id),
      1,
    );
    this.#ordered.email.splice(this.#place(row), 1);
    this.#byId.delete(id);
    this.#unindex(row);
  }

  #detachAll(inboundId: number): void {
    this.editsVersion = ++version;
    for (const row of this.#byId.values())
      if (row.inboundIds.includes(inboundId)) {
        row.inboundIds = this.internInboundIds(row.inboundIds.filter((id) => id !== inboundId));
        row.credentials = mergedCredentials(row.credentials, undefined, [inboundId]);
      }
  }

  #renew({ inboundId, credentials }: NonNullable<RosterChange['renewed']>): void {
    this.editsVersion = ++version;
    for (const row of this.#byId.values()) {
      const made = credentials.get(row.id);
      row.credentials = made
        ? mergedCredentials(row.credentials, new Map([[inboundId, made]]), [])
        : mergedCredentials(row.credentials, undefined, [inboundId]);
    }
  }

  #addUsage(usage: readonly ClientUsage[], at: number): void {
    this.countsVersion = ++version;
    for (const { clientId, up, down } of usage) {
      const row = this.#byId.get(clientId);
      if (!row) continue;
      row.up = Math.min(row.up + up, MAX_BYTES);
      row.down = Math.min(row.down + down, MAX_BYTES);
      row.lastOnline = Math.max(row.lastOnline, at);
    }
  }

  /** Adds and deletes in one pass over all rows: 10,000 rows one by one took 200 ms. */
  async #mergeAll(added: readonly ClientRow[], deleted: readonly number[], slice: TimeSlice): Promise<void> {
    const gone = new Set<ClientRow>();
    const rows: ClientRow[] = [];
    for (const id of deleted) {
      if (slice.isOver) await slice.next();
      const row = this.#byId.get(id);
      if (!row) continue;
      gone.add(row);
      this.#byId.delete(id);
      this.#unindex(row);
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
    // Lists that were computed until here are out of date.
    this.editsVersion = ++version;
  }
}
