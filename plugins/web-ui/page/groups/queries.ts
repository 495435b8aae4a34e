// What the page of groups asks the panel for.
import { queryOptions } from '@tanstack/react-query';
import { useEffect } from 'react';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { refreshClients } from '../clients/refresh.js';
import { live } from '../live/live.js';
import { GAP } from '../live/live-stream.js';

const REFETCH_MS = 2_000;

export const groupsQuery = queryOptions({
  queryKey: ['groups', 'list'],
  queryFn: ({ signal }) => weir.clients.groups.list({ signal }),
});
export const emailsQuery = (name: string) =>
  queryOptions({
    queryKey: ['groups', 'emails', name],
    queryFn: ({ signal }) => weir.clients.groups.emails({ name }, { signal }),
    // A job must not be about clients that were there a while ago.
    staleTime: 0,
    gcTime: 0,
  });
export const foundQuery = (search: string) =>
  queryOptions({
    queryKey: ['groups', 'found', search],
    queryFn: ({ signal }) =>
      weir.clients.list(
        { query: { page: 1, pageSize: 20, sort: 'email', ...(search !== '' && { search }) } },
        { signal },
      ),
  });

export function groupsChanged(): void {
  void queries.invalidateQueries({ queryKey: ['groups'] });
  refreshClients();
}

/** Each group is counted over all clients, so a change of clients is followed at most every two seconds. */
export function useLiveGroups(): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: groupsQuery.queryKey });
      }, REFETCH_MS);
    };
    const ends = [
      live.on(GAP, soon),
      live.on('invalidate', (messages) => {
        if (messages.some((message) => (message as { type: string }).type === 'clients')) soon();
      }),
    ];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, []);
}
