// Lists of rows that are sorted by a key.
import type { TimeSlice } from '../../../kernel/index.js';
import type { ClientRow } from './row.js';

/** Position of the first row that does not come before. */
export function lowerBound(rows: readonly ClientRow[], isBefore: (row: ClientRow) => boolean): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(rows[middle] as ClientRow)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a list that is sorted by key, without the deleted rows and with the added ones. */
export async function merge<K extends string | number>(
  sorted: readonly ClientRow[],
  deleted: ReadonlySet<ClientRow>,
  added: readonly ClientRow[],
  keyOf: (row: ClientRow) => K,
  slice: TimeSlice,
): Promise<ClientRow[]> {
  const incoming = added.map((row) => ({ row, key: keyOf(row) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const all: ClientRow[] = [];
  let at = 0;
  for (const row of sorted) {
    if (slice.isOver) await slice.next();
    if (deleted.has(row)) continue;
    if (at < incoming.length) {
      const key = keyOf(row);
      for (let next = incoming[at]; next && next.key < key; next = incoming[++at]) all.push(next.row);
    }
    all.push(row);
  }
  for (const { row } of incoming.slice(at)) all.push(row);
  return all;
}
