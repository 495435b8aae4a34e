// An order of all clients that is brought up to date: clients that changed are taken out and put in again.
import { placesAfter, type RosterStep } from '../model/journal.js';
import { lowerBound } from '../model/sorted-rows.js';

/** Compares two clients by their places in the list by id; never 0 for two of them. */
export type Compare = (a: number, b: number) => number;

/** Places of all clients, sorted. `count` is how many there are now. */
export function moved(
  sorted: Uint32Array,
  steps: readonly RosterStep[],
  count: number,
  compare: Compare,
): Uint32Array {
  const { changed, moves } = placesAfter(steps);
  const isChanged = new Uint8Array(count);
  for (const place of changed) isChanged[place] = 1;
  const rest = picked(moves.reduce(renumbered, sorted), (place) => isChanged[place] !== 1);
  const next = new Uint32Array(count);
  let from = 0;
  let filled = 0;
  for (const place of changed.toSorted(compare)) {
    const to = lowerBound(rest, (other) => compare(other, place) < 0, from);
    next.set(rest.subarray(from, to), filled);
    filled += to - from;
    next[filled++] = place;
    from = to;
  }
  next.set(rest.subarray(from), filled);
  return next;
}

/** A client that came takes no place here yet; one that went leaves. */
function renumbered(places: Uint32Array, { what, place }: RosterStep): Uint32Array {
  const by = what === 'added' ? 1 : -1;
  const rest = what === 'added' ? places.slice() : picked(places, (other) => other !== place);
  for (let i = 0; i < rest.length; i++) if ((rest[i] as number) >= place) rest[i] = (rest[i] as number) + by;
  return rest;
}

/** As `filter`, which is slow on these arrays. */
function picked(places: Uint32Array, isIn: (place: number) => boolean): Uint32Array {
  const rest = new Uint32Array(places.length);
  let count = 0;
  for (let i = 0; i < places.length; i++) {
    const place = places[i] as number;
    if (isIn(place)) rest[count++] = place;
  }
  return rest.subarray(0, count);
}
