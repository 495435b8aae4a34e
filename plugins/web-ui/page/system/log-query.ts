// The calls that get a log, and how often. Logs are not in the live stream: the panel is asked again for what is new.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { type Entry, entryOfConnection, entryOfPanel, grown, type Log } from './log-lines.js';
import type { LogView } from './log-view.js';

const SECOND = 1000;

/** ms between two calls; a journal is read by a program, and a search of the core's log reads far back. */
function pauseOf({ log, search }: LogView): number {
  if (log === 'journal') return 15 * SECOND;
  if (log === 'core') return (search === undefined ? 3 : 10) * SECOND;
  return 2 * SECOND;
}

/** The last lines, oldest first. */
async function load(view: LogView, count: number, signal: AbortSignal): Promise<readonly Entry[]> {
  const { log, level = 'info', way, search } = view;
  if (log === 'core') {
    const shows = {
      showDirect: way === undefined || way === 'direct',
      showBlocked: way === undefined || way === 'blocked',
      showProxy: way === undefined || way === 'proxied',
    };
    const body = { ...shows, ...(search !== undefined && { filter: search }) };
    const entries = await weir.server.engineLogs({ count, body }, { signal });
    return entries.map(entryOfConnection);
  }
  const lines = await weir.server.logs({ count, body: { level, syslog: log === 'journal' } }, { signal });
  return lines.map(entryOfPanel).reverse();
}

/** `isLive`: it goes on by itself. */
export function logQuery(view: LogView, isLive: boolean) {
  // The log of the panel is searched in the page: it is here as a whole.
  const { search, ...rest } = view;
  const queryKey = ['log', view.log === 'core' ? view : rest];
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) =>
      grown(queries.getQueryData<Log>(queryKey), Number(view.lines ?? 500), (count) =>
        load(view, count, signal),
      ),
    refetchInterval: isLive && pauseOf(view),
    refetchOnWindowFocus: isLive,
    staleTime: 0,
    gcTime: 0,
    structuralSharing: false,
  });
}
