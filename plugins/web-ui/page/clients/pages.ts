// The pages of the list that are needed for what is on the screen: asked for when scrolling rests, their neighbours ahead,
// at most ten of them kept.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { onClientsChange } from '../live/clients-change.js';
import { type ClientPage, type ClientRow, reordered } from '../live/patches.js';
import { PAGE_SIZE, queryOf, type View } from './view.js';

const REST_MS = 80;
const MOST_KEPT = 10;

const pageKey = (view: View, round: number, index: number) =>
  ['clients', 'page', view, round, index] as const;
const pageOptions = (view: View, round: number, index: number) => ({
  queryKey: pageKey(view, round, index),
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<ClientPage> =>
    weir.clients.list({ query: queryOf(view, index) }, { signal }),
  // The live stream and `refresh` below keep it up to date.
  staleTime: Number.POSITIVE_INFINITY,
  refetchOnWindowFocus: false,
});

export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Pages with a row of the range, and one on each side. */
export function pagesFor({ first, last }: Range, count: number): number[] {
  const most = Math.max(0, Math.ceil(count / PAGE_SIZE) - 1);
  const from = Math.max(0, Math.floor(first / PAGE_SIZE) - 1);
  const to = Math.min(most, Math.floor(last / PAGE_SIZE) + 1);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

export interface ClientPages {
  /** clients that pass the filter; undefined before the first reply */
  readonly count: number | undefined;
  readonly total: number | undefined;
  readonly groups: readonly string[];
  readonly row: (index: number) => ClientRow | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  /** the panel has another order now, and rows stay until `resort` */
  readonly isMoved: boolean;
  readonly resort: () => void;
}

export function useClientPages(view: View, range: Range): ClientPages {
  const [round, setRound] = useState(0);
  const [isMoved, setMoved] = useState(false);
  const rested = useRested(range);
  // The first page also says how many there are.
  const first = useQuery({ ...pageOptions(view, round, 0), placeholderData: keepPreviousData });
  const count = first.data?.filtered;
  const wanted = pagesFor(rested, count ?? 0);
  const found = useQueries({ queries: wanted.map((index) => pageOptions(view, round, index)) });
  const shownPages = first.isPlaceholderData ? [] : wanted;
  usePruning(wanted);

  const resort = useCallback(() => {
    setMoved(false);
    setRound((now) => now + 1);
  }, []);
  const state = useRef({ view, round, shownPages });
  state.current = { view, round, shownPages };
  useRefresh(state, () => setMoved(true));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view is in the order of the panel
  useEffect(() => setMoved(false), [view]);

  const failed = found.find(({ error }) => error !== null);
  return {
    count,
    total: first.data?.total,
    groups: first.data?.groups ?? [],
    row(index) {
      const page = Math.floor(index / PAGE_SIZE);
      const data = found[wanted.indexOf(page)]?.data ?? (page === 0 ? first.data : undefined);
      return data?.items[index % PAGE_SIZE];
    },
    error: first.error ?? failed?.error,
    retry: () => {
      for (const one of [first, ...found]) if (one.error) void one.refetch();
    },
    isMoved,
    resort,
  };
}

/** The range once it has not changed for a moment: a jump asks for nothing on its way. */
function useRested(range: Range): Range {
  const [rested, setRested] = useState(range);
  const { first, last } = range;
  useEffect(() => {
    const timer = setTimeout(() => setRested({ first, last }), REST_MS);
    return () => clearTimeout(timer);
  }, [first, last]);
  return rested;
}

/** Removes the pages that were not needed for longest. */
function usePruning(wanted: readonly number[]): void {
  const key = wanted.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when other pages are wanted
  useEffect(() => {
    const unused = queries
      .getQueryCache()
      .findAll({ queryKey: ['clients', 'page'], type: 'inactive' })
      .sort((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt);
    for (const query of unused.slice(Math.max(0, MOST_KEPT - wanted.length)))
      queries.removeQueries({ queryKey: query.queryKey, exact: true });
  }, [key]);
}

interface Shown {
  readonly view: View;
  readonly round: number;
  readonly shownPages: readonly number[];
}

/** Asks for the shown pages again when the panel says that clients have changed; rows never move under the hand. */
function useRefresh(state: { readonly current: Shown }, moved: () => void): void {
  const tell = useRef(moved);
  tell.current = moved;
  useEffect(() => {
    const refresh = async (): Promise<void> => {
      const { view, round, shownPages } = state.current;
      for (const index of shownPages) {
        const key = pageKey(view, round, index);
        const shown = queries.getQueryData<ClientPage>(key);
        if (!shown) continue;
        const fresh = await weir.clients.list({ query: queryOf(view, index) });
        const outcome = reordered(shown, fresh);
        queries.setQueryData<ClientPage>(key, outcome.kind === 'same' ? fresh : outcome.page);
        if (outcome.kind === 'moved') tell.current();
      }
    };
    return onClientsChange(() => void refresh().catch(() => undefined));
  }, [state]);
}
