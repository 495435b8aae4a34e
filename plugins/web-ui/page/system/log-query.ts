// The calls that get a log.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { live } from '../live/live.js';
import type { FeedParts, Tail } from './log-feed.js';
import {
  type Connection,
  type Entry,
  entryOfConnection,
  entryOfPanel,
  grown,
  isWanted,
  type Log,
} from './log-lines.js';
import { LEVELS, type LogLevel, type LogView } from './log-view.js';

const SECOND = 1000;
/** What was written since a place is asked for as a whole. */
const MOST_SINCE = 10_000;

/** ms between two calls without the live stream; a journal is read by a program, and a search of the core's log reads far back. */
export function pauseOf({ log, search }: LogView): number {
  if (log === 'journal') return 15 * SECOND;
  if (log === 'core') return (search === undefined ? 3 : 10) * SECOND;
  return 2 * SECOND;
}

const countOf = ({ lines }: LogView, after?: string): number =>
  after === undefined ? Number(lines ?? 500) : MOST_SINCE;

async function tailOfPanel(view: LogView, after: string | undefined, signal: AbortSignal): Promise<Tail> {
  const level: LogLevel = view.level ?? 'info';
  const query = { count: countOf(view, after), level, ...(after !== undefined && { after }) };
  const { lines, ...tail } = await weir.panelLogs.tail({ query }, { signal });
  return { ...tail, entries: lines.map(entryOfPanel) };
}

async function tailOfCore(view: LogView, after: string | undefined, signal: AbortSignal): Promise<Tail> {
  const { way, search } = view;
  const query = {
    count: countOf(view, after),
    ...(after !== undefined && { after }),
    ...(search !== undefined && { filter: search }),
    showDirect: way === undefined || way === 'direct',
    showBlocked: way === undefined || way === 'blocked',
    showProxy: way === undefined || way === 'proxied',
  };
  const { lines, ...tail } = await weir.engineLogs.tail({ query }, { signal });
  return { ...tail, entries: lines.map(entryOfConnection) };
}

/** What the log of a view needs; of the panel or of the core. */
export function partsOf(view: LogView): FeedParts {
  const common = {
    stream: live,
    later(run: () => void, ms: number) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    pauseMs: pauseOf(view),
  };
  if (view.log === 'core')
    return {
      ...common,
      log: 'core_log',
      tail: (after, signal) => tailOfCore(view, after, signal),
      entryOf: (line) =>
        isWanted(line as Connection, view) ? entryOfConnection(line as Connection) : undefined,
    };
  const least: LogLevel = view.level ?? 'info';
  const floor = LEVELS.indexOf(least);
  return {
    ...common,
    log: 'panel_log',
    tail: (after, signal) => tailOfPanel(view, after, signal),
    entryOf: (line) => {
      const entry = entryOfPanel(String(line));
      return LEVELS.indexOf(entry.level) >= floor ? entry : undefined;
    },
  };
}

/** The last lines of the journal, oldest first. */
async function load(view: LogView, count: number, signal: AbortSignal): Promise<readonly Entry[]> {
  const level: LogLevel = view.level ?? 'info';
  const lines = await weir.server.logs({ count, body: { level, syslog: true } }, { signal });
  return lines.map(entryOfPanel).reverse();
}

/** `isLive`: it goes on by itself. */
export function journalQuery({ search: _, ...view }: LogView, isLive: boolean) {
  const queryKey = ['log', view];
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) =>
      grown(queries.getQueryData<Log>(queryKey), countOf(view), (count) => load(view, count, signal)),
    refetchInterval: isLive && pauseOf(view),
    refetchOnWindowFocus: isLive,
    staleTime: 0,
    gcTime: 0,
    structuralSharing: false,
  });
}
