// Long lists, item by item, with turns for others.
import { TimeSlice } from '../../../kernel/index.js';

/** `items.map(one)` for lists of any length. */
export async function mapInSlices<T, R>(
  items: readonly T[],
  one: (item: T, index: number) => R,
): Promise<R[]> {
  const slice = new TimeSlice();
  const results: R[] = [];
  for (const [i, item] of items.entries()) {
    if (slice.isOver) await slice.next();
    results.push(one(item, i));
  }
  return results;
}
