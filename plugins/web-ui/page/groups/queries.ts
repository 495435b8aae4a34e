// What the page of groups asks the panel for.
import { queryOptions } from '@tanstack/react-query';
import { useEffect } from 'react';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { refreshClients } from '../clients/refresh.js';
import { onClientsChange } from '../live/clients-change.js';

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
export function groupsChanged(): void {
  void queries.invalidateQueries({ queryKey: ['groups'] });
  refreshClients();
}

/** Each group is counted over all clients, so a change of clients is followed at most every two seconds. */
export function useLiveGroups(): void {
  useEffect(
    () => onClientsChange(() => void queries.invalidateQueries({ queryKey: groupsQuery.queryKey })),
    [],
  );
}
