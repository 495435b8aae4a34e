// What a reseller asks the panel for: his figures and his clients.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import type { OwnView } from './view.js';

export const PAGE_SIZE = 25;

export const figuresQuery = queryOptions({
  queryKey: ['own', 'figures'],
  queryFn: ({ signal }) => weir.reseller.figures({ signal }),
});
export const ownClientsQuery = ({ search = '', status = '', page = 1 }: OwnView) =>
  queryOptions({
    queryKey: ['own', 'clients', search, status, page],
    queryFn: ({ signal }) =>
      weir.reseller.clients(
        { query: { search, status, page, pageSize: PAGE_SIZE, sort: 'createdAt', order: 'descend' } },
        { signal },
      ),
    placeholderData: keepPreviousData,
    // There is no live stream for him.
    refetchInterval: 30_000,
  });
export const ownClientQuery = (id: number) =>
  queryOptions({
    queryKey: ['own', 'client', id],
    queryFn: ({ signal }) => weir.reseller.client({ id }, { signal }),
    refetchInterval: 30_000,
  });

export const readOwnAgain = (): Promise<void> => queries.invalidateQueries({ queryKey: ['own'] });
