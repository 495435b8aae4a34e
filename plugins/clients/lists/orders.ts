// The orders of the paged list. A page without filters sorts all clients and keeps the result until what the order
// depends on changes. Filtered pages use that result, too; without it they sort the clients that pass, each time.
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import type { Filter } from './filter.js';

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

export type Rows = readonly ClientRow[];
/** Sorted rows; read them from the end if `backwards` is set. */
export interface Ordered {
  readonly rows: Rows;
  readonly backwards: boolean;
}

export class Orders {
  readonly #store: { readonly roster: Roster };
  readonly #sorted = new Map<string, { readonly version: string; readonly rows: Rows }>();

  constructor(store: { readonly roster: Roster }) {
    this.#store = store;
  }

  /** Returns the clients that pass the filter. An unknown key sorts by id. */
  rows(sort: string, order: string, filter: Filter | undefined): Ordered {
    const { roster } = this.#store;
    const passing = (rows: Rows): Rows => (filter ? rows.filter(filter) : rows);
    const descending = order === 'descend';
    const key = Object.hasOwn(KEYS, sort) ? KEYS[sort] : undefined;
    if (!key)
      return { rows: passing(roster.ordered(sort === 'email' ? 'email' : 'id')), backwards: descending };
    const name = `${sort} ${descending}`;
    const version = key.counted ? `${roster.editsVersion} ${roster.countsVersion}` : `${roster.editsVersion}`;
    const known = this.#sorted.get(name);
    if (known?.version === version) return { rows: passing(known.rows), backwards: false };
    const rows = sortRows(passing(roster.ordered('id')), key, descending);
    if (!filter) this.#sorted.set(name, { version, rows });
    return { rows, backwards: false };
  }
}

/** `rows` are sorted by id. */
function sortRows(rows: Rows, { value, tiesFollow }: SortKey, descending: boolean): Rows {
  const values = Float64Array.from(rows, value);
  const places = Uint32Array.from(rows, (_, i) => i);
  const sign = descending ? -1 : 1;
  places.sort((a, b) => {
    const [x, y] = [values[a] as number, values[b] as number];
    if (x !== y) return x < y ? -sign : sign;
    return tiesFollow ? sign * (a - b) : a - b;
  });
  return Array.from(places, (place) => rows[place] as ClientRow);
}
