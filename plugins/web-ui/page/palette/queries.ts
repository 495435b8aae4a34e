// What the palette searches: clients are searched by the panel, the others are few and known here.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';

const MOST = 8;

export const foundClientsQuery = (search: string) =>
  queryOptions({
    queryKey: ['clients', 'found', search],
    queryFn: async ({ signal }) => {
      const { items } = await weir.clients.list({ query: { search, pageSize: MOST } }, { signal });
      return items.map(({ email }) => email);
    },
    enabled: search !== '',
    placeholderData: keepPreviousData,
  });
