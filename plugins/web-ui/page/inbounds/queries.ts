// What the pages of inbounds ask the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import type { ProtocolsReply, TransportsReply } from './document.js';

const ofEnvelope = async <T>(response: Response): Promise<T> => ((await response.json()) as { obj: T }).obj;

/** Without the usage of each client, of which there may be many. */
export const inboundListQuery = queryOptions({
  queryKey: ['inbounds', 'list'],
  queryFn: ({ signal }) => weir.inbounds.list({ query: { stats: '0' } }, { signal }),
  refetchInterval: 30_000,
});
export const inboundQuery = (id: number) =>
  queryOptions({
    queryKey: ['inbounds', 'one', id],
    queryFn: ({ signal }) => weir.inbounds.get({ id }, { signal }),
  });
export const inboundSchemasQuery = queryOptions({
  queryKey: ['schemas', 'inbounds'],
  queryFn: async ({ signal }) => {
    const [protocols, transports] = await Promise.all([
      weir.schemas.protocols({ signal }).then(ofEnvelope<ProtocolsReply>),
      weir.schemas.transports({ signal }).then(ofEnvelope<TransportsReply>),
    ]);
    return { protocols, transports };
  },
  staleTime: Number.POSITIVE_INFINITY,
});
