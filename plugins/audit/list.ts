// The recorded changes, newest first.
import type { Database } from '../../kernel/index.js';
import type { ChangeKind } from './contract.js';
import type { KeptStore } from './kept-store.js';
import type { Undo } from './undo.js';
import type { Fields } from './differences.js';

export interface ListQuery {
  readonly area?: string | undefined;
  readonly kind?: ChangeKind | undefined;
  readonly name?: string | undefined;
  readonly subject?: string | undefined;
  readonly who?: string | undefined;
  readonly ip?: string | undefined;
  /** Unix ms, from this one on */
  readonly from?: number | undefined;
  /** Unix ms, before this one */
  readonly to?: number | undefined;
  /** changes before this one */
  readonly before?: number | undefined;
  readonly limit: number;
}
interface Row {
  readonly id: number;
  readonly entry: number;
  readonly at: number;
  readonly who: string;
  readonly whoKind: string;
  readonly ip: string;
  readonly area: string;
  readonly kind: ChangeKind;
  readonly name: string;
  readonly subject: string;
  readonly undoes: number;
}
export interface ListedChange extends Row {
  readonly fields: Fields;
  readonly undoable: boolean;
  /** why not; blank when it is */
  readonly undoableReason: string;
}

const EQUAL = ['area', 'kind', 'name', 'subject', 'who', 'ip'] as const;

export class AuditList {
  readonly #db: Database;
  readonly #keptStore: KeptStore;
  readonly #undo: Undo;

  constructor({ db, keptStore, undo }: { db: Database; keptStore: KeptStore; undo: Undo }) {
    this.#db = db;
    this.#keptStore = keptStore;
    this.#undo = undo;
  }

  async changes(query: ListQuery): Promise<ListedChange[]> {
    const where = EQUAL.filter((name) => query[name] !== undefined).map((name) => `${name} = :${name}`);
    if (query.before !== undefined) where.push('id < :before');
    // Ids lead to few rows where times would lead through all. Times are compared as well: a clock may have gone back.
    const [first, last] = await Promise.all([this.#firstFrom(query.from), this.#lastBefore(query.to)]);
    if (query.from !== undefined) where.push('id >= :first', 'at >= :from');
    if (query.to !== undefined) where.push('id <= :last', 'at < :to');
    const rows = await this.#db.query<Row & { readonly fields: string }>(
      `SELECT id, entry, at, who, who_kind AS whoKind, ip, area, kind, name, subject, undoes, fields FROM audit_changes
       ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY id DESC LIMIT :limit`,
      { ...query, first, last },
    );
    const kept = await this.#keptStore.of(rows.map(({ entry }) => Number(entry)));
    return rows.map((row) => {
      const [entry, at] = [Number(row.entry), Number(row.at)];
      const undoableReason = this.#undo.reason(row.area, at, kept.get(entry));
      return {
        ...row,
        id: Number(row.id),
        entry,
        at,
        undoes: Number(row.undoes),
        fields: JSON.parse(row.fields) as Fields,
        undoable: undoableReason === '',
        undoableReason,
      };
    });
  }

  /** The first change at this time or later; one that is still to come if there is none. */
  async #firstFrom(time: number | undefined): Promise<number> {
    if (time === undefined) return 0;
    const [row] = await this.#db.query<{ first: number | null }>(
      'SELECT MIN(id) AS first FROM audit_changes WHERE at >= :time',
      { time },
    );
    return Number(row?.first ?? Number.MAX_SAFE_INTEGER);
  }

  /** The last change before this time; 0 if there is none. */
  async #lastBefore(time: number | undefined): Promise<number> {
    if (time === undefined) return 0;
    const [row] = await this.#db.query<{ last: number | null }>(
      'SELECT MAX(id) AS last FROM audit_changes WHERE at < :time',
      { time },
    );
    return Number(row?.last ?? 0);
  }
}
