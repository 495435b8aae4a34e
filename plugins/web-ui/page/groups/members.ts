// Whom a job on a group changes, and what of a list of groups is shown.
import { ALL, MOST_NAMED, type Selection } from '../clients/selection.js';

export interface Group {
  readonly name: string;
  readonly clientCount: number;
  readonly trafficUsed: number;
}

const asFilter = (name: string): string => name.trim().toLowerCase();

/**
 * Whether the filter of the list finds this group and no other: it ignores case, takes commas as several names, and knows
 * no name that is blank.
 */
export const isExactFilter = (name: string, names: readonly string[]): boolean =>
  !name.includes(',') &&
  asFilter(name) !== '' &&
  names.filter((other) => asFilter(other) === asFilter(name)).length <= 1;

export type Members =
  /** the filter of the list */
  | { readonly kind: 'filter' }
  /** its clients by name */
  | { readonly kind: 'named' }
  /** too many for names, and no filter finds just them */
  | { readonly kind: 'none' };

export function membersOf({ name, clientCount }: Group, names: readonly string[]): Members {
  if (isExactFilter(name, names)) return { kind: 'filter' };
  return { kind: clientCount <= MOST_NAMED ? 'named' : 'none' };
}

/** Clients of a group by name; their ids are not needed, so places stand for them. */
export const namedSelection = (emails: readonly string[]): Selection => ({
  kind: 'some',
  chosen: new Map(emails.map((email, index) => [-1 - index, email])),
});
export const filterSelection: Selection = ALL;

export interface ShownGroups<G> {
  readonly shown: readonly G[];
  readonly more: number;
}

/** Groups with each word of the search in their name. */
export function shownGroups<G extends Group>(
  groups: readonly G[],
  search: string,
  most: number,
): ShownGroups<G> {
  const words = search.toLowerCase().split(/\s+/);
  const found = groups.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  return { shown: found.slice(0, most), more: Math.max(0, found.length - most) };
}

/** Most emails in one call. */
export const MOST_MOVED = 10_000;
export function portions<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size));
}
