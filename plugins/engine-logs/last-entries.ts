// The last entries of the log that an admin wants to see.
import type { ClientsApi } from '../clients/contract.js';
import type { CoreLogApi, CoreLogEntry } from '../engine/contract.js';

export interface Wanted {
  readonly filter?: string;
  readonly showDirect?: boolean;
  readonly showBlocked?: boolean;
  readonly showProxy?: boolean;
}
const EVENTS = { direct: 0, blocked: 1, proxied: 2 } as const;

/** The field names are those of the API description. */
const shown = ({ at, from, to, inbound, outbound, way, user, name }: CoreLogEntry, clients: ClientsApi) => ({
  DateTime: new Date(at).toISOString(),
  FromAddress: from,
  ToAddress: to,
  Inbound: inbound,
  Outbound: outbound,
  // The name of a client that was deleted since is that of the core.
  Email: (user && clients.byId(user.clientId)?.email) ?? name,
  Event: EVENTS[way],
});

/** Oldest first. */
export async function lastEntries(
  { coreLog, clients }: { coreLog: CoreLogApi | undefined; clients: ClientsApi },
  count: number,
  { filter = '', showDirect = true, showBlocked = true, showProxy = true }: Wanted,
): Promise<ReturnType<typeof shown>[]> {
  const show = { direct: showDirect, blocked: showBlocked, proxied: showProxy };
  const wanted = filter.toLowerCase();
  const entries: ReturnType<typeof shown>[] = [];
  await coreLog?.readBackwards((line) => {
    if (!show[line.way]) return true;
    const entry = shown(line, clients);
    const isFound = wanted === '' || Object.values(entry).join('\n').toLowerCase().includes(wanted);
    if (isFound) entries.push(entry);
    return entries.length < count;
  });
  return entries.reverse();
}
