// Keeps the preferences of this browser and those of the admin at the panel the same.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { session, weir } from '../api/panel.js';
import { isAbsent } from '../api/trouble.js';
import type { PanelPreferences, SharedStore } from './browser-store.js';

/** Another browser may have chosen something; a call that failed is made again. */
const PAUSE_MS = 60_000;

const panel: PanelPreferences = {
  get: () => weir.preferences.get(),
  set: (changes) => weir.preferences.set({ body: { changes: { ...changes } } }),
};

function useMeeting(store: SharedStore) {
  const state = useSyncExternalStore(session.subscribe, session.state);
  const owner = state.kind === 'in' ? state.name : '';
  const query = queryOptions({
    queryKey: ['preferences', owner],
    queryFn: async () => {
      // Without the plugin that stores them, they are in this browser only.
      await store.meet(owner, panel).catch((failure: unknown) => {
        if (!isAbsent(failure)) throw failure;
      });
      return null;
    },
    enabled: owner !== '',
    refetchInterval: PAUSE_MS,
    staleTime: 1_000,
  });
  return { owner, ...useQuery(query) };
}

/** While a page for admins is shown. */
export function useSharedPreferences(store: SharedStore): void {
  const { owner, refetch } = useMeeting(store);
  const writes = useSyncExternalStore(store.subscribe, store.writes);
  useEffect(() => {
    if (writes > 0 && owner !== '') void refetch({ cancelRefetch: false });
  }, [writes, owner, refetch]);
}

/** Why what was chosen is not at the panel; undefined if it is. */
export function useUnsentPreferences(store: SharedStore) {
  const { error, refetch } = useMeeting(store);
  const isUnsent = useSyncExternalStore(store.subscribe, store.isUnsent);
  return isUnsent && error ? { error, retry: () => void refetch() } : undefined;
}
