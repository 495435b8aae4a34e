// What the pages of the subscription ask the panel for.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';

export interface Asked {
  readonly email: string;
  /** blank: the standard path */
  readonly format: string;
  /** blank: none that the panel knows */
  readonly agent: string;
}
export const previewQuery = ({ email, format, agent }: Asked) =>
  queryOptions({
    queryKey: ['subscription', 'preview', email, format, agent],
    queryFn: ({ signal }) =>
      weir.settings.subscriptionPreview(
        { query: { email, ...(format !== '' && { path: format }), ...(agent !== '' && { agent }) } },
        { signal },
      ),
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
export const urlsQuery = (email: string) =>
  queryOptions({
    queryKey: ['subscription', 'urls', email],
    queryFn: ({ signal }) => weir.subscription.urls({ email }, { signal }),
  });
