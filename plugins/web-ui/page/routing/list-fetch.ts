// Fetches of lists that were asked for here: which run, and how the last one of each failed.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { listsChanged } from './queries.js';

export interface Fetch {
  readonly isRunning: boolean;
  readonly error?: unknown;
}
export const fetchesQuery = queryOptions({
  queryKey: ['list-fetches'],
  queryFn: (): Readonly<Record<number, Fetch>> => queries.getQueryData(['list-fetches']) ?? {},
  initialData: {},
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});
const put = (id: number, fetch: Fetch): void =>
  void queries.setQueryData(fetchesQuery.queryKey, (now) => ({ ...now, [id]: fetch }));

/** Never rejects. */
export async function fetchList(id: number): Promise<void> {
  put(id, { isRunning: true });
  try {
    await weir.engine.refreshOutboundSub({ id });
    put(id, { isRunning: false });
  } catch (error) {
    put(id, { isRunning: false, error });
  }
  await listsChanged().catch(() => undefined);
}
