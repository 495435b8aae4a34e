// Clients that a search finds, for fields in which one is chosen.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';

const MOST = 20;

/** In the order of their names; a blank search finds all. */
export const foundClientsQuery = (search: string) =>
  queryOptions({
    queryKey: ['clients', 'choices', search],
    queryFn: ({ signal }) =>
      weir.clients.list(
        { query: { page: 1, pageSize: MOST, sort: 'email', ...(search !== '' && { search }) } },
        { signal },
      ),
    placeholderData: keepPreviousData,
  });
