// The traffic of one poll, as readers of the live stream see it.
import type { ClientsApi, ClientUsage } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { PresenceApi } from '../traffic/contract.js';

/** Longer lists are omitted (null); readers then ask the API for the page they show. */
const MOST_ROWS = 2000;

interface Needs {
  readonly clients: ClientsApi;
  readonly inbounds: InboundsApi;
  readonly presence: PresenceApi;
}

/** Which clients are online, and through which inbounds. */
export function onlineNow({ clients, inbounds, presence }: Needs) {
  const ids = presence.online();
  return {
    onlineCount: ids.length,
    onlineClients: ids.length > MOST_ROWS ? null : ids.flatMap((id) => clients.byId(id)?.email ?? []),
    activeInbounds: presence.activeInbounds().flatMap((id) => inbounds.get(id)?.tag ?? []),
  };
}

/** Bytes are those of this poll alone; times are Unix ms. */
export function trafficMessage(needs: Needs, at: number, usage: readonly ClientUsage[]) {
  const { clients, inbounds } = needs;
  const byClient = sums(usage, ({ clientId }) => clientId);
  const rows = [...byClient].flatMap(([id, bytes]) => {
    const email = clients.byId(id)?.email;
    return email === undefined ? [] : [{ id, email, ...bytes }];
  });
  const moved = rows.length > MOST_ROWS ? undefined : rows;
  return {
    at,
    clientTraffics: moved ?? null,
    lastOnlineMap: moved ? Object.fromEntries(moved.map(({ email }) => [email, at])) : null,
    inboundTraffics: [...sums(usage, ({ inboundId }) => inboundId)].flatMap(([id, bytes]) => {
      const tag = inbounds.get(id)?.tag;
      return tag === undefined ? [] : [{ id, tag, ...bytes }];
    }),
    ...onlineNow(needs),
  };
}

function sums(
  usage: readonly ClientUsage[],
  idOf: (entry: ClientUsage) => number,
): Map<number, { up: number; down: number }> {
  const found = new Map<number, { up: number; down: number }>();
  for (const entry of usage) {
    const sum = found.get(idOf(entry));
    if (sum) {
      sum.up += entry.up;
      sum.down += entry.down;
    } else found.set(idOf(entry), { up: entry.up, down: entry.down });
  }
  return found;
}
