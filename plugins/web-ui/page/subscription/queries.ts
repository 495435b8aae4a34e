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
/** `settings`: JSON of those that are not saved */
export const trialQuery = ({ email, format, agent }: Asked, settings: string) =>
  queryOptions({
    queryKey: ['subscription', 'trial', email, format, agent, settings],
    queryFn: ({ signal }) =>
      weir.subscription.preview(
        {
          body: {
            email,
            ...(format !== '' && { path: format }),
            ...(agent !== '' && { agent }),
            settings: JSON.parse(settings) as Record<string, unknown>,
          },
        },
        { signal },
      ),
    staleTime: 0,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
export const urlsQuery = (email: string) =>
  queryOptions({
    queryKey: ['subscription', 'urls', email],
    queryFn: ({ signal }) => weir.subscription.urls({ email }, { signal }),
  });
