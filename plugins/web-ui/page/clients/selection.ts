// Which clients are chosen in the list: some of them, or all that pass the filter but some.
import type { BulkJobsStartInput } from '../../../../sdk/index.js';
import { queryOf, type View } from './view.js';

export type Selection =
  /** emails by id */
  | { readonly kind: 'some'; readonly chosen: ReadonlyMap<number, string> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<number> };

type Whom = Pick<BulkJobsStartInput['body'], 'filter' | 'emails' | 'except'>;
interface Row {
  readonly id: number;
  readonly email: string;
}

export const NONE: Selection = { kind: 'some', chosen: new Map() };
export const ALL: Selection = { kind: 'all', except: new Set() };
/** Most clients that one job takes by name, and most exceptions. */
export const MOST_NAMED = 10_000;

export const isChosen = (selection: Selection, id: number): boolean =>
  selection.kind === 'all' ? !selection.except.has(id) : selection.chosen.has(id);

/** The same selection when it would have too many names. */
export function toggled(selection: Selection, { id, email }: Row): Selection {
  if (selection.kind === 'all') {
    const except = new Set(selection.except);
    if (!except.delete(id)) except.add(id);
    return except.size > MOST_NAMED ? selection : { kind: 'all', except };
  }
  const chosen = new Map(selection.chosen);
  if (!chosen.delete(id)) chosen.set(id, email);
  return chosen.size > MOST_NAMED ? selection : { kind: 'some', chosen };
}

/** `count` clients pass the filter. */
export const sizeOf = (selection: Selection, count: number): number =>
  selection.kind === 'all' ? Math.max(0, count - selection.except.size) : selection.chosen.size;

/** The filter without what only orders the list. */
export function filterOf(view: View): NonNullable<Whom['filter']> {
  const { search, status, inboundIds, group } = queryOf(view, 0);
  return {
    ...(search !== undefined && { search }),
    ...(status !== undefined && { status }),
    ...(inboundIds !== undefined && { inboundIds }),
    ...(group !== undefined && { group }),
  };
}
/** Changes when another filter is shown: a selection belongs to one. */
export const filterKey = (view: View): string => JSON.stringify(filterOf(view));

/** Whom a job changes. */
export const whomOf = (selection: Selection, view: View): Whom =>
  selection.kind === 'all'
    ? {
        filter: filterOf(view),
        ...(selection.except.size > 0 && { except: { ids: [...selection.except] } }),
      }
    : { emails: [...selection.chosen.values()] };
