// The orders of the paged list. All clients are sorted, and the order is kept and follows what changes: a filter only picks
// from it.
import { emailKey } from '../model/fields.js';
import type { RosterJournal } from '../model/journal.js';
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import { type Compare, moved } from './kept-order.js';

interface SortKey {
  readonly value: (row: ClientRow) => number;
  /** changes with every poll */
  readonly counted: boolean;
  /** clients with the same value are sorted by id in the direction of the order; otherwise ascending */
  readonly tiesFollow: boolean;
}
const plainKey = (value: SortKey['value']): SortKey => ({ value, counted: false, tiesFollow: false });
const timestampKey = (value: SortKey['value'], counted = false): SortKey => ({
  value,
  counted,
  tiesFollow: true,
});
const countedKey = (value: SortKey['value']): SortKey => ({ value, counted: true, tiesFollow: false });

const KEYS: Readonly<Record<string, SortKey>> = {
  enable: plainKey(({ enable }) => Number(enable)),
  inboundIds: plainKey(({ inboundIds }) => inboundIds.length),
  traffic: countedKey(({ up, down }) => up + down),
  // No limit sorts as the largest value.
  remaining: countedKey(({ totalGB, up, down }) => (totalGB > 0 ? totalGB - up - down : Infinity)),
  expiryTime: plainKey(({ expiryTime }) => (expiryTime > 0 ? expiryTime : Infinity)),
  createdAt: timestampKey(({ createdAt }) => createdAt),
  updatedAt: timestampKey(({ updatedAt }) => updatedAt),
  lastOnline: timestampKey(({ lastOnline }) => lastOnline, true),
};

/** Compares clients as the list sorts them: for a few of them, which need no order of all. */
export function rowOrder(sort: string, order: string): (a: ClientRow, b: ClientRow) => number {
  const sign = order === 'descend' ? -1 : 1;
  if (sort === 'email') return (a, b) => (emailKey(a.email) < emailKey(b.email) ? -sign : sign);
  const key = Object.hasOwn(KEYS, sort) ? KEYS[sort] : undefined;
  if (!key) return (a, b) => sign * (a.id - b.id);
  return (a, b) => {
    const x = key.value(a);
    const y = key.value(b);
    if (x !== y) return x < y ? -sign : sign;
    return key.tiesFollow ? sign * (a.id - b.id) : a.id - b.id;
  };
}

/** Orders that are kept. Each is 400 KB for 100,000 clients. */
const MOST_ORDERS = 8;

/** Places in the list by id, in another order. */
interface Kept {
  readonly journal: RosterJournal;
  readonly at: number;
  readonly places: Uint32Array;
}
export interface Slice {
  readonly rows: readonly ClientRow[];
  /** how many clients passed the filter */
  readonly count: number;
}
/** 1 for each client that passes a filter, by its place in the list by id. */
export type Marks = Uint8Array;

export class Orders {
  readonly #store: { readonly roster: Roster };
  readonly #kept = new Map<string, Kept>();

  constructor(store: { readonly roster: Roster }) {
    this.#store = store;
  }

  /** Returns some of the clients that pass the filter. An unknown key sorts by id. */
  slice(sort: string, order: string, marks: Marks | undefined, from: number, count: number): Slice {
    const { roster } = this.#store;
    const rows = roster.ordered('id');
    const descending = order === 'descend';
    const key = Object.hasOwn(KEYS, sort) ? KEYS[sort] : undefined;
    // The order of a key says itself where equal values stand, so it is not read backwards.
    const backwards = !key && descending;
    if (!marks && !key)
      return {
        rows: part(roster.ordered(sort === 'email' ? 'email' : 'id'), backwards, from, count),
        count: rows.length,
      };
    const places = key ? this.#byKey(sort, key, descending) : sort === 'email' ? this.#byEmail() : undefined;
    if (!marks)
      return {
        rows: Array.from(places?.subarray(from, from + count) ?? [], (place) => rows[place] as ClientRow),
        count: rows.length,
      };
    const found: ClientRow[] = [];
    let passed = 0;
    for (let i = 0; i < rows.length; i++) {
      const at = backwards ? rows.length - 1 - i : i;
      const place = places ? (places[at] as number) : at;
      if (marks[place] !== 1) continue;
      if (passed >= from && found.length < count) found.push(rows[place] as ClientRow);
      passed++;
    }
    return { rows: found, count: passed };
  }

  #byEmail(): Uint32Array {
    const { roster } = this.#store;
    const rows = roster.ordered('id');
    const keyAt = (place: number) => emailKey((rows[place] as ClientRow).email);
    const compare = (a: number, b: number) => (keyAt(a) < keyAt(b) ? -1 : 1);
    return this.#upToDate('email', roster.journals.edits, compare, () => {
      const places = new Map(rows.map((row, place) => [row, place]));
      return Uint32Array.from(roster.ordered('email'), (row) => places.get(row) ?? 0);
    });
  }

  #byKey(sort: string, key: SortKey, descending: boolean): Uint32Array {
    const { roster } = this.#store;
    const rows = roster.ordered('id');
    const compare = comparing((place) => key.value(rows[place] as ClientRow), key, descending);
    return this.#upToDate(
      `${sort} ${descending}`,
      key.counted ? roster.journals.all : roster.journals.edits,
      compare,
      (previous) => sortPlaces(rows, key, descending, previous),
    );
  }

  #upToDate(
    name: string,
    journal: RosterJournal,
    compare: Compare,
    sorted: (previous: Uint32Array | undefined) => Uint32Array,
  ): Uint32Array {
    const count = this.#store.roster.size;
    const known = this.#kept.get(name);
    // The one that was used last is the last that is forgotten.
    this.#kept.delete(name);
    const steps = known?.journal === journal ? known.journal.since(known.at) : undefined;
    const places = known && steps ? moved(known.places, steps, count, compare) : sorted(known?.places);
    this.#kept.set(name, { journal, at: journal.at, places });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_ORDERS && oldest !== undefined) this.#kept.delete(oldest);
    return places;
  }
}

const comparing =
  (valueAt: (place: number) => number, { tiesFollow }: SortKey, descending: boolean): Compare =>
  (a, b) => {
    const sign = descending ? -1 : 1;
    const x = valueAt(a);
    const y = valueAt(b);
    if (x !== y) return x < y ? -sign : sign;
    return tiesFollow ? sign * (a - b) : a - b;
  };

/** Begins with the previous order of as many clients: after small changes almost nothing moves, and sorting takes one pass. */
function sortPlaces(
  rows: readonly ClientRow[],
  key: SortKey,
  descending: boolean,
  previous: Uint32Array | undefined,
): Uint32Array {
  const values = Float64Array.from(rows, key.value);
  // An array, not a Uint32Array: only its sort notices what is in order.
  const places: number[] =
    previous?.length === rows.length ? Array.from(previous) : Array.from(rows, (_, i) => i);
  places.sort(comparing((place) => values[place] as number, key, descending));
  return Uint32Array.from(places);
}

function part(
  rows: readonly ClientRow[],
  backwards: boolean,
  from: number,
  count: number,
): readonly ClientRow[] {
  if (!backwards) return rows.slice(from, from + count);
  return rows.slice(Math.max(0, rows.length - from - count), Math.max(0, rows.length - from)).reverse();
}
