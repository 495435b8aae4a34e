// What the pages of the system ask the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { isSettled } from './plugin-state.js';
import type { PluginSettings } from './setting-fields.js';

const SECOND = 1000;

/** Read again soon while the panel restarts. */
export const pluginStatesQuery = queryOptions({
  queryKey: ['plugins', 'states'],
  queryFn: ({ signal }) => weir.system.plugins.list({ signal }),
  refetchInterval: ({ state: { data, status } }) =>
    status === 'error' || (data && !isSettled(data)) ? 2 * SECOND : 30 * SECOND,
});
export const sessionsQuery = queryOptions({
  queryKey: ['access', 'sessions'],
  queryFn: ({ signal }) => weir.access.sessions.list({ signal }),
});
export const tokensQuery = queryOptions({
  queryKey: ['access', 'tokens'],
  queryFn: ({ signal }) => weir.settings.apiTokens.list({ signal }),
});
export const twoFactorQuery = queryOptions({
  queryKey: ['access', 'twoFactor'],
  queryFn: ({ signal }) => weir.access.twoFactorEnabled({ signal }),
});
export const loginMethodsQuery = queryOptions({
  queryKey: ['access', 'loginMethods'],
  queryFn: ({ signal }) => weir.access.loginMethods({ signal }),
});
export const linksQuery = queryOptions({
  queryKey: ['access', 'links'],
  queryFn: ({ signal }) => weir.openid.links.list({ signal }),
});
export const recoveryQuery = queryOptions({
  queryKey: ['access', 'recovery'],
  queryFn: ({ signal }) => weir.access.recoveryCodes.count({ signal }),
});
export const settingSchemasQuery = queryOptions({
  queryKey: ['schemas', 'settings'],
  queryFn: async ({ signal }) => {
    const response = await weir.schemas.settings({ signal });
    return ((await response.json()) as { obj: { plugins: PluginSettings[] } }).obj;
  },
  staleTime: Number.POSITIVE_INFINITY,
});
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async ({ signal }): Promise<Readonly<Record<string, unknown>>> => weir.settings.all({ signal }),
});
