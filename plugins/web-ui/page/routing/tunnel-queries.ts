// What the page of tunnels asks the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { isAbsent } from '../api/trouble.js';
import { countriesIn, deviceIn, serversIn } from './tunnel-words.js';

/** Null where the plugin that answers it does not run. */
async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

const LONG_MS = 10 * 60_000;

/** Id of the device at the tunnel service; blank for none. */
export const deviceQuery = queryOptions({
  queryKey: ['routing', 'tunnels', 'device'],
  queryFn: async ({ signal }) => {
    const text = await orNull(weir.engine.edgetunnel({ action: 'data' }, { signal }));
    return text === null ? null : deviceIn(text);
  },
});
/** Days after which the device is replaced. */
export const rotationQuery = queryOptions({
  queryKey: ['routing', 'tunnels', 'rotation'],
  queryFn: async ({ signal }) => (await weir.settings.all({ signal })).edgetunnelUpdateInterval,
});
/** Whether the provider has an account of this panel. */
export const accountQuery = queryOptions({
  queryKey: ['routing', 'tunnels', 'account'],
  queryFn: async ({ signal }) => {
    const text = await orNull(weir.engine.vpnprovider({ action: 'data' }, { signal }));
    return text === null ? null : text !== '';
  },
});
export const countriesQuery = queryOptions({
  queryKey: ['tunnels', 'countries'],
  queryFn: async ({ signal }) =>
    countriesIn(await weir.engine.vpnprovider({ action: 'countries' }, { signal })),
  staleTime: LONG_MS,
});
export const serversQuery = (countryId: number) =>
  queryOptions({
    queryKey: ['tunnels', 'servers', countryId],
    queryFn: async ({ signal }) =>
      serversIn(await weir.engine.vpnprovider({ action: 'servers', body: { countryId } }, { signal })),
    enabled: countryId > 0,
    staleTime: LONG_MS,
  });
export const programsQuery = queryOptions({
  queryKey: ['routing', 'tunnels', 'programs'],
  queryFn: ({ signal }) => orNull(weir.sidecars.list({ signal })),
  refetchInterval: 10_000,
});
