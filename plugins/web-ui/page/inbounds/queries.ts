// What the pages of inbounds ask the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { isAbsent } from '../api/trouble.js';
import type { ProtocolsReply, TransportsReply } from './document.js';

const ofEnvelope = async <T>(response: Response): Promise<T> => ((await response.json()) as { obj: T }).obj;

/** Empty where the plugin that answers it does not run. */
async function orNone<T>(call: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await call;
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

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
    // A form begins with what it gets first, so that must not be an earlier visit's.
    gcTime: 0,
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
/** How many clients of an inbound, or of all, are online now. */
export const onlineQuery = (id: number | undefined) =>
  queryOptions({
    queryKey: ['inbounds', 'online', id ?? 'all'],
    queryFn: async ({ signal }) => {
      const query = { pageSize: 1, status: 'online', ...(id !== undefined && { inboundIds: String(id) }) };
      return (await weir.clients.list({ query }, { signal })).filtered;
    },
    refetchInterval: 15_000,
  });
/** The first clients of an inbound. */
export const firstClientsQuery = (id: number) =>
  queryOptions({
    queryKey: ['inbounds', 'clients', id],
    queryFn: ({ signal }) =>
      weir.clients.list({ query: { pageSize: 20, inboundIds: String(id) } }, { signal }),
  });
/** Files of certificates on this machine; empty where there are none. */
export const certificateFilesQuery = queryOptions({
  queryKey: ['inbounds', 'certificates'],
  queryFn: async ({ signal }) => {
    const [issued, panel] = await Promise.all([
      orNone(weir.certificates.list({ signal })),
      weir.server.getWebCertFiles({ signal }),
    ]);
    const files = issued
      .filter(({ state, certificateFile }) => state === 'valid' && certificateFile !== '')
      .map(({ names, certificateFile, keyFile }) => ({ names, certificateFile, keyFile }));
    const { webCertFile: certificateFile, webKeyFile: keyFile } = panel;
    const isNew = certificateFile !== '' && files.every((file) => file.certificateFile !== certificateFile);
    return isNew ? [...files, { names: [], certificateFile, keyFile }] : files;
  },
});
/** What goes with an inbound when it is deleted, and does not come back with it. */
export const heldQuery = (id: number) =>
  queryOptions({
    queryKey: ['inbounds', 'held', id],
    queryFn: async ({ signal }) => {
      const [fallbacks, hosts] = await Promise.all([
        orNone(weir.inbounds.fallbacks({ id }, { signal })),
        orNone(weir.hosts.byInbound({ inboundId: id }, { signal })),
      ]);
      return { fallbacks: fallbacks.length, hosts: hosts.length };
    },
    staleTime: 0,
  });
