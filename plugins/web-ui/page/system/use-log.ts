// The log that a page shows: as it is written, or asked for again and again where it is the journal.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { LogFeed } from './log-feed.js';
import { journalQuery, partsOf, pauseOf } from './log-query.js';
import type { LogLine } from './log-lines.js';
import type { LogView } from './log-view.js';

export interface ShownLog {
  /** undefined until the first answer */
  readonly lines: readonly LogLine[] | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  /** lines come as they are written; otherwise the panel is asked every so many ms */
  readonly isStreamed: boolean;
  readonly pauseMs: number;
}

/** `isLive`: it goes on by itself. */
export function useLog(view: LogView, isLive: boolean): ShownLog {
  const isJournal = view.log === 'journal';
  const journal = useQuery({ ...journalQuery(view, isLive), enabled: isJournal });
  // The log of the panel is searched in the page: it is here as a whole.
  const key = JSON.stringify(view.log === 'core' ? view : { ...view, search: undefined });
  const feed = useMemo(() => new LogFeed(partsOf(JSON.parse(key) as LogView)), [key]);
  const state = useSyncExternalStore(feed.subscribe, feed.state);
  useEffect(() => {
    if (isJournal) return undefined;
    if (!isLive) {
      if (!feed.state().log) feed.retry();
      return undefined;
    }
    feed.start();
    return () => feed.stop();
  }, [feed, isLive, isJournal]);
  const pauseMs = pauseOf(view);
  if (isJournal)
    return {
      lines: journal.data?.lines,
      error: journal.error,
      retry: () => void journal.refetch(),
      isStreamed: false,
      pauseMs,
    };
  return {
    lines: state.log?.lines,
    error: state.error,
    retry: feed.retry,
    isStreamed: state.isStreamed,
    pauseMs,
  };
}
