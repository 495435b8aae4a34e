// The live stream of this panel, and how it keeps what the page knows up to date.
import type { ServerStatusReply } from '../../../../sdk/index.js';
import { panelUrl, session } from '../api/panel.js';
import { queries, statusQuery, summaryQuery } from '../api/queries.js';
import { ENDED, GAP, LiveStream, type Socket } from './live-stream.js';
import {
  type ClientPage,
  type CoreState,
  newest,
  pageWithUsage,
  type TrafficNow,
  usageOf,
  withUsage,
} from './patches.js';

const REFETCH_MS = 2_000;

const url = new URL('ws', panelUrl);
url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';

export const live = new LiveStream({
  connect: () => new WebSocket(url) as Socket,
  later(run, ms) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  isHidden: () => document.hidden,
});
document.addEventListener('visibilitychange', () => live.shown());

/** Queries that a resource of `invalidate` concerns. The list of clients follows by itself, see clients/pages.ts. */
const CONCERNED: Readonly<Record<string, readonly string[]>> = {
  clients: ['client', 'today'],
  inbounds: ['inbounds'],
};
const due = new Set<string>();
let isPlanned = false;

/** At most every two seconds, whatever happens on the panel. */
function refetchSoon(keys: readonly string[]): void {
  for (const key of keys) due.add(key);
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(() => {
    isPlanned = false;
    for (const key of due) void queries.invalidateQueries({ queryKey: [key] });
    void queries.invalidateQueries({ queryKey: summaryQuery.queryKey });
    due.clear();
  }, REFETCH_MS);
}

live.on('status', (messages) => {
  const status = newest<ServerStatusReply>(messages);
  if (status) queries.setQueryData(statusQuery.queryKey, status);
});
live.on('engine_state', (messages) => {
  const core = newest<CoreState>(messages);
  if (core)
    queries.setQueryData(statusQuery.queryKey, (known) =>
      known ? { ...known, engine: { ...known.engine, ...core } } : known,
    );
});
live.on('traffic', (messages) => {
  const traffic = newest<TrafficNow>(messages);
  if (traffic)
    queries.setQueryData(summaryQuery.queryKey, (known) =>
      known
        ? { ...known, onlineCount: traffic.onlineCount, online: [...(traffic.onlineClients ?? [])] }
        : known,
    );
});
live.on('client_stats', (messages) => {
  const usage = usageOf(messages);
  if (usage.size === 0) return;
  queries.setQueriesData<ClientPage>({ queryKey: ['clients', 'page'] }, (page) => pageWithUsage(page, usage));
  for (const email of usage.keys())
    queries.setQueryData(
      ['client', email],
      (known: { email: string; enable: boolean; traffic: null } | undefined) =>
        known ? withUsage(known, usage as never) : known,
    );
});
live.on('invalidate', (messages) => {
  for (const message of messages) {
    const { type } = message as { type: string };
    refetchSoon(CONCERNED[type] ?? [type]);
  }
});
live.on(GAP, () => refetchSoon(['client', 'status', 'today', 'alarms', 'plugins', 'inbounds']));
live.on(ENDED, () => {
  session.check().catch(() => undefined);
});
