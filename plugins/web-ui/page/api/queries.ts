// What the page knows of the panel, by its keys, and for how long.
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { isAbsent } from './trouble.js';
import { weir } from './panel.js';

const SECOND = 1000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The client repeats a call where that is safe, and the live stream says what has changed.
      retry: false,
      staleTime: 30 * SECOND,
      gcTime: 5 * 60 * SECOND,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});

/** Null where the plugin that answers it does not run, or the admin may not call it. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Null where there are no roles: then everybody who is logged in may do everything, or nothing. */
export const rightsQuery = queryOptions({
  queryKey: ['rights'],
  queryFn: ({ signal }) => orNull(weir.roles.me({ signal })),
  staleTime: 60 * SECOND,
});
export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => orNull(weir.server.status({ signal })),
  refetchInterval: 30 * SECOND,
});
/** Counts over all clients, without their names. */
export const summaryQuery = queryOptions({
  queryKey: ['clients', 'summary'],
  queryFn: async ({ signal }) => {
    const page = await orNull(weir.clients.list({ query: { pageSize: 1 } }, { signal }));
    return page && { ...page.summary, all: page.total, groups: page.groups };
  },
  refetchInterval: 30 * SECOND,
});
export const pluginsQuery = queryOptions({
  queryKey: ['plugins'],
  queryFn: ({ signal }) => orNull(weir.system.plugins.list({ signal })),
  staleTime: 60 * SECOND,
});
export const alarmsQuery = queryOptions({
  queryKey: ['alarms'],
  queryFn: ({ signal }) => orNull(weir.alarms.list({ signal })),
});
export const certificatesQuery = queryOptions({
  queryKey: ['certificates'],
  queryFn: ({ signal }) => orNull(weir.certificates.list({ signal })),
});
export const backupQuery = queryOptions({
  queryKey: ['backup'],
  queryFn: ({ signal }) => orNull(weir.backup.status({ signal })),
});
export const todayQuery = queryOptions({
  queryKey: ['today'],
  queryFn: ({ signal }) => orNull(weir.usageByDay.top({ query: { limit: 8 } }, { signal })),
  refetchInterval: 60 * SECOND,
});
export const inboundsQuery = queryOptions({
  queryKey: ['inbounds'],
  queryFn: ({ signal }) => weir.inbounds.options({ signal }),
});
export const clientQuery = (email: string) =>
  queryOptions({
    queryKey: ['client', email],
    queryFn: ({ signal }) => weir.clients.get({ email }, { signal }),
  });
export const clientPartQuery = <T>(email: string, part: string, call: (signal: AbortSignal) => Promise<T>) =>
  queryOptions({
    queryKey: ['client', email, part],
    queryFn: ({ signal }) => orNull(call(signal)),
  });
