// The traffic of one poll, as readers of the live stream see it.
import type { ClientsApi, ClientUsage } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { namesByGuid, type PresenceApi } from '../traffic/contract.js';
import type { OutboundBytes } from './contract.js';

/** Longer lists are omitted (null); readers then ask the API for the page they show. */
export const MOST_ROWS = 2000;

interface Needs {
  readonly clients: Pick<ClientsApi, 'byId'>;
  readonly inbounds: Pick<InboundsApi, 'get'>;
  readonly presence: Pick<PresenceApi, 'online' | 'onlineByGuid' | 'activeInboundsByGuid'>;
}
interface Bytes {
  readonly up: number;
  readonly down: number;
}

/** Which clients are online, and through which inbounds, by the guid of the panel that serves them. */
export function onlineNow({ clients, inbounds, presence }: Needs) {
  const ids = presence.online();
  const emails = ids.length > MOST_ROWS ? null : ids.flatMap((id) => clients.byId(id)?.email ?? []);
  return {
    onlineCount: ids.length,
    onlineClients: emails,
    onlineByGuid: emails && namesByGuid(presence.onlineByGuid(), (id) => clients.byId(id)?.email),
    activeInbounds: namesByGuid(presence.activeInboundsByGuid(), (id) => inbounds.get(id)?.tag),
  };
}

/** Bytes are those of this poll alone; times are Unix ms. */
export function trafficMessage(
  needs: Needs,
  at: number,
  usage: readonly ClientUsage[],
  outbounds: readonly OutboundBytes[],
) {
  const { clients, inbounds } = needs;
  const rows = [...sums(usage, ({ clientId }) => clientId)].flatMap(([id, bytes]) => {
    const email = clients.byId(id)?.email;
    return email === undefined ? [] : [{ id, email, ...bytes }];
  });
  const moved = rows.length > MOST_ROWS ? undefined : rows;
  const inboundTraffics = [...sums(usage, ({ inboundId }) => inboundId)].flatMap(([id, bytes]) => {
    const tag = inbounds.get(id)?.tag;
    return tag === undefined ? [] : [{ id, tag, ...bytes }];
  });
  const traffics = [
    ...inboundTraffics.map(({ tag, ...bytes }) => row(tag, bytes, true)),
    ...outbounds.map(({ tag, ...bytes }) => row(tag, bytes, false)),
  ];
  return {
    at,
    traffics: traffics.length > MOST_ROWS ? null : traffics,
    clientTraffics: moved ?? null,
    lastOnlineMap: moved ? Object.fromEntries(moved.map(({ email }) => [email, at])) : null,
    inboundTraffics: inboundTraffics.length > MOST_ROWS ? null : inboundTraffics,
    ...onlineNow(needs),
  };
}

/** Existing programs read capitalised keys here. */
const row = (Tag: string, { up, down }: Bytes, isInbound: boolean) => ({
  IsInbound: isInbound,
  IsOutbound: !isInbound,
  Tag,
  Up: up,
  Down: down,
});

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
