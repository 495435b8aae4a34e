// Lists of rows that are sorted by a key.
import type { TimeSlice } from '../../../kernel/index.js';
import type { ClientRow } from './row.js';

/** Position of the first item, at or after `low`, that does not come before. */
export function lowerBound<T>(
  items: { readonly length: number; readonly [index: number]: T },
  isBefore: (item: T) => boolean,
  low = 0,
): number {
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns a sorted list without the deleted rows and with the added ones. It searches the place of each of them and
 * copies what is between: a splice for each would shift all rows behind it each time.
 */
export async function merge<K extends string | number>(
  sorted: readonly ClientRow[],
  deleted: readonly ClientRow[],
  added: readonly ClientRow[],
  keyOf: (row: ClientRow) => K,
  slice: TimeSlice,
): Promise<ClientRow[]> {
  const keyed = (rows: readonly ClientRow[], isAdded: boolean) =>
    rows.map((row) => ({ row, key: keyOf(row), isAdded }));
  // A deleted row comes before the added one that takes its key.
  const steps = [...keyed(deleted, false), ...keyed(added, true)].sort((a, b) =>
    a.key === b.key ? Number(a.isAdded) - Number(b.isAdded) : a.key < b.key ? -1 : 1,
  );
  const all: ClientRow[] = [];
  let from = 0;
  for (const { row, key, isAdded } of steps) {
    if (slice.isOver) await slice.next();
    const place = lowerBound(sorted, (other) => keyOf(other) < key, from);
    while (from < place) all.push(sorted[from++] as ClientRow);
    if (isAdded) all.push(row);
    else if (sorted[from] === row) from++;
  }
  while (from < sorted.length) all.push(sorted[from++] as ClientRow);
  return all;
}
