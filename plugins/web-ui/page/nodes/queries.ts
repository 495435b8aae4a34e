// What the page knows of nodes. The live stream brings the list after each round of heartbeats.
import { queryOptions } from '@tanstack/react-query';
import type { NodesListReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isAbsent } from '../api/trouble.js';
import { live } from '../live/live.js';
import { newest } from '../live/patches.js';

const ROUND_MS = 10_000;

/** Null where the plugin that answers it does not run. */
async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

export const nodesQuery = queryOptions({
  queryKey: ['nodes', 'list'],
  queryFn: ({ signal }) => weir.nodes.list({ signal }),
  refetchInterval: ROUND_MS,
});
export const nodeSyncQuery = queryOptions({
  queryKey: ['nodes', 'sync'],
  queryFn: ({ signal }) => orNull(weir.nodeSync.list({ signal })),
  refetchInterval: ROUND_MS,
});
export const refusedQuery = (id: number) =>
  queryOptions({
    queryKey: ['nodes', 'refused', id],
    queryFn: ({ signal }) => orNull(weir.nodeSync.refused({ id }, { signal })),
  });
export const adoptionQuery = (id: number) =>
  queryOptions({
    queryKey: ['nodes', 'adoption', id],
    queryFn: ({ signal }) => orNull(weir.nodeSync.adoption({ id }, { signal })),
  });

live.on('nodes', (messages) => {
  const list = newest<NodesListReply>(messages);
  if (Array.isArray(list)) queries.setQueryData(nodesQuery.queryKey, list);
});

/** After a change of a node, and of what depends on it. */
export const nodesChanged = (): Promise<void> => queries.invalidateQueries({ queryKey: ['nodes'] });
