// All clients in memory, fed from the database at start and after every commit. Lists, subscriptions and limits are
// answered from here, on any database with the same rules for case and order; nothing is ever saved from here.
import { type Database, type SqlWords, TimeSlice } from '../../kernel/index.js';
import type { ClientChange, ClientUsage } from './contract.js';
import { type ClientRow, emailKey, rowOf, vlessKey } from './row.js';
import type { ClientPatched } from './store.js';

type StoredRow = Omit<ClientRow, 'inboundIds' | 'enable' | 'reverse'> & {
  inboundIds: string | null;
  enable: number;
  reverse: string | null;
};

const MOST = Number.MAX_SAFE_INTEGER;
const loadWith = ({ least }: SqlWords): string => `
  SELECT c.id, c.email, c.sub_id AS subId, c.uuid, c.password, c.flow, c.enable, c.depleted_cause AS depletedCause, c.total_gb AS totalGB, c.expiry_time AS expiryTime, c.limit_ip AS limitIp, c.limit_hwid AS limitHwid,
    c.tg_id AS tgId, c.group_name AS "group", c.comment, c.reset, c.reset_day AS resetDay, c.reset_max AS resetMax, c.reset_count AS resetCount, c.reverse, c.created_at AS createdAt, c.updated_at AS updatedAt,
    (SELECT group_concat(inbound_id) FROM client_inbounds a WHERE a.client_id = c.id) AS inboundIds,
    coalesce((SELECT ${least}(sum(up), ${MOST}) FROM client_usage u WHERE u.client_id = c.id), 0) AS up, coalesce((SELECT ${least}(sum(down), ${MOST}) FROM client_usage u WHERE u.client_id = c.id), 0) AS down,
    coalesce(s.last_online, 0) AS lastOnline, coalesce(s.last_sub_fetch, 0) AS lastSubFetch
  FROM clients c LEFT JOIN client_seen s ON s.client_id = c.id WHERE c.id > :from ORDER BY c.id LIMIT :count`;
const SLICE = 10_000;

/** Position of the first element that does not come before. */
function lowerBound(rows: readonly ClientRow[], isBefore: (row: ClientRow) => boolean): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(rows[middle] as ClientRow)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Roster {
  readonly #byId = new Map<number, ClientRow>();
  readonly #byEmail = new Map<string, ClientRow>();
  readonly #bySubId = new Map<string, ClientRow>();
  readonly #byVlessKey = new Map<string, ClientRow>();
  readonly #byPassword = new Map<string, ClientRow>();
  /** Kept sorted, so that a page costs a slice and not a sort. */
  readonly #ordered: { id: ClientRow[]; email: ClientRow[] } = { id: [], email: [] };
  readonly #attachments = new Map<string, readonly number[]>();
  readonly #texts = new WeakMap<ClientRow, string>();
  /** Grow with every change of what a person or a limit writes, and with every poll that moved bytes; what is worked out of all rows holds as long as they stand still. */
  edits = 0;
  counts = 0;

  async load(db: Database): Promise<void> {
    for (let from = 0; ; ) {
      const rows = await db.query<StoredRow>(loadWith(db.sql), { from, count: SLICE });
      for (const row of rows) {
        const client = rowOf({
          ...row,
          enable: Boolean(row.enable),
          reverse: row.reverse === null ? null : (JSON.parse(row.reverse) as Record<string, unknown>),
          inboundIds: this.attachments((row.inboundIds ?? '').split(',').filter(Boolean).map(Number)),
        });
        this.#index(client);
        this.#ordered.id.push(client);
        this.#ordered.email.push(client);
      }
      if (rows.length < SLICE) break;
      from = rows.at(-1)?.id ?? 0;
    }
    this.#ordered.email.sort((a, b) => (emailKey(a.email) < emailKey(b.email) ? -1 : 1));
  }

  /** Most clients share their set of inbounds with many others. */
  attachments(inboundIds: readonly number[]): readonly number[] {
    const sorted = [...new Set(inboundIds)].sort((a, b) => a - b);
    const key = sorted.join();
    const known = this.#attachments.get(key);
    if (known) return known;
    this.#attachments.set(key, sorted);
    return sorted;
  }

  get size(): number {
    return this.#byId.size;
  }
  byId(id: number): ClientRow | undefined {
    return this.#byId.get(id);
  }
  byEmail(email: string): ClientRow | undefined {
    return this.#byEmail.get(emailKey(email));
  }
  bySubId(subId: string): ClientRow | undefined {
    return this.#bySubId.get(subId);
  }
  byVlessKey(uuid: string): ClientRow | undefined {
    return this.#byVlessKey.get(vlessKey(uuid));
  }
  byPassword(password: string): ClientRow | undefined {
    return this.#byPassword.get(password);
  }
  /** All rows, by id or by email. */
  ordered(by: 'id' | 'email'): readonly ClientRow[] {
    return this.#ordered[by];
  }

  /** Lower-case text that a search looks into. */
  searchText(row: ClientRow): string {
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const text = [
      row.email,
      row.subId,
      row.comment,
      row.uuid,
      row.password,
      row.tgId === 0 ? '' : String(row.tgId),
    ]
      .join('\n')
      .toLowerCase();
    this.#texts.set(row, text);
    return text;
  }

  #index(row: ClientRow): void {
    this.#byId.set(row.id, row);
    this.#byEmail.set(emailKey(row.email), row);
    this.#bySubId.set(row.subId, row);
    this.#byVlessKey.set(vlessKey(row.uuid), row);
    this.#byPassword.set(row.password, row);
  }

  #unindex(row: ClientRow): void {
    this.#byEmail.delete(emailKey(row.email));
    this.#bySubId.delete(row.subId);
    this.#byVlessKey.delete(vlessKey(row.uuid));
    this.#byPassword.delete(row.password);
    this.#texts.delete(row);
  }

  add(row: ClientRow): void {
    this.edits++;
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

  patch({ id, fields, attach = [], detach = [] }: ClientPatched): void {
    const row = this.#byId.get(id);
    if (!row) return;
    this.edits++;
    const renamed = fields.email !== undefined && fields.email !== row.email;
    if (renamed) this.#ordered.email.splice(this.#place(row), 1);
    this.#unindex(row);
    Object.assign(row, fields);
    if (attach.length + detach.length > 0)
      row.inboundIds = this.attachments(
        [...row.inboundIds, ...attach].filter((inboundId) => !detach.includes(inboundId)),
      );
    this.#index(row);
    if (renamed) this.#ordered.email.splice(this.#place(row), 0, row);
  }

  remove(id: number): void {
    const row = this.#byId.get(id);
    if (!row) return;
    this.edits++;
    const { id: byId } = this.#ordered;
    byId.splice(
      lowerBound(byId, (other) => other.id < id),
      1,
    );
    this.#ordered.email.splice(this.#place(row), 1);
    this.#byId.delete(id);
    this.#unindex(row);
  }

  /** An inbound is gone: nobody is attached to it any more. */
  dropInbound(inboundId: number): void {
    this.edits++;
    for (const row of this.#byId.values())
      if (row.inboundIds.includes(inboundId))
        row.inboundIds = this.attachments(row.inboundIds.filter((id) => id !== inboundId));
  }

  count(usage: readonly ClientUsage[], at: number): void {
    this.counts++;
    for (const { clientId, up, down } of usage) {
      const row = this.#byId.get(clientId);
      if (!row) continue;
      row.up = Math.min(row.up + up, MOST);
      row.down = Math.min(row.down + down, MOST);
      row.lastOnline = Math.max(row.lastOnline, at);
    }
  }

  /** Changes come one commit after another: the next one waits until all of this one is in. Others may look in between. */
  async apply(changes: readonly ClientChange[]): Promise<void> {
    if (changes.length > this.size / 16) return this.#applyMany(changes);
    const slice = new TimeSlice();
    for (const { kind, before, after } of changes) {
      if (slice.isOver) await slice.next();
      if (kind === 'added' && after) this.add(rowOf(after));
      if (kind === 'deleted' && before) this.remove(before.id);
    }
  }

  async patchAll(patches: readonly ClientPatched[]): Promise<void> {
    const slice = new TimeSlice();
    for (const patched of patches) {
      if (slice.isOver) await slice.next();
      this.patch(patched);
    }
  }

  /** As `apply`, in one pass over all rows: 10,000 rows put in or taken out one by one took 200 ms. */
  async #applyMany(changes: readonly ClientChange[]): Promise<void> {
    const slice = new TimeSlice();
    const gone = new Set<ClientRow>();
    const fresh: ClientRow[] = [];
    for (const { kind, before, after } of changes) {
      if (slice.isOver) await slice.next();
      if (kind === 'added' && after) {
        const row = rowOf(after);
        fresh.push(row);
        this.#index(row);
      }
      const row = kind === 'deleted' && before ? this.#byId.get(before.id) : undefined;
      if (!row) continue;
      gone.add(row);
      this.#byId.delete(row.id);
      this.#unindex(row);
    }
    const byId = await merge(this.#ordered.id, gone, fresh, ({ id }) => id, slice);
    const byEmail = await merge(this.#ordered.email, gone, fresh, (row) => emailKey(row.email), slice);
    Object.assign(this.#ordered, { id: byId, email: byEmail });
    // What was worked out of the lists until here holds no longer.
    this.edits++;
  }
}

/** A list that is sorted by key, without those that are gone and with the fresh ones. */
async function merge<K extends string | number>(
  sorted: readonly ClientRow[],
  gone: ReadonlySet<ClientRow>,
  fresh: readonly ClientRow[],
  keyOf: (row: ClientRow) => K,
  slice: TimeSlice,
): Promise<ClientRow[]> {
  const incoming = fresh.map((row) => ({ row, key: keyOf(row) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const all: ClientRow[] = [];
  let at = 0;
  for (const row of sorted) {
    if (slice.isOver) await slice.next();
    if (gone.has(row)) continue;
    if (at < incoming.length) {
      const key = keyOf(row);
      for (let next = incoming[at]; next && next.key < key; next = incoming[++at]) all.push(next.row);
    }
    all.push(row);
  }
  for (const { row } of incoming.slice(at)) all.push(row);
  return all;
}
