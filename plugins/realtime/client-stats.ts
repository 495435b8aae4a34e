// What clients and inbounds have used in all: absolute figures, so a reader that missed a message is right again with the
// next one about the same client.
import type { ClientsApi, ClientTrafficApi, ClientUsage } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { MOST_ROWS } from './traffic-message.js';

type TrafficRecord = ReturnType<ClientTrafficApi['of']>;
export interface StatsNeeds {
  readonly clients: Pick<ClientsApi, 'byId' | 'all'>;
  readonly records: ClientTrafficApi;
  readonly inbounds: Pick<InboundsApi, 'get' | 'list' | 'usage'>;
}
interface InboundStats {
  readonly id: number;
  readonly up: number;
  readonly down: number;
  readonly total: number;
  readonly enable: boolean;
}
export interface ClientStats {
  /** `clients` and `inbounds` are all that there are */
  readonly snapshot: boolean;
  /** null for more than 2,000 */
  readonly clients: readonly TrafficRecord[] | null;
  readonly inbounds: readonly InboundStats[] | null;
}

function inboundStats({ inbounds }: StatsNeeds, ids: Iterable<number>): InboundStats[] | null {
  const rows = [...ids].flatMap((id) => {
    const inbound = inbounds.get(id);
    return inbound
      ? [{ id, ...bytesOf(inbounds.usage(id)), total: inbound.total, enable: inbound.enable }]
      : [];
  });
  return rows.length > MOST_ROWS ? null : rows;
}
const bytesOf = ({ up, down }: { readonly up: number; readonly down: number }) => ({ up, down });

/** Those that moved bytes in a poll. */
export function movedStats(needs: StatsNeeds, usage: readonly ClientUsage[]): ClientStats {
  const ids = new Set(usage.map(({ clientId }) => clientId));
  const clients =
    ids.size > MOST_ROWS
      ? null
      : [...ids].flatMap((id) => {
          const row = needs.clients.byId(id);
          return row ? [needs.records.of(row)] : [];
        });
  return {
    snapshot: false,
    clients,
    inbounds: inboundStats(needs, new Set(usage.map(({ inboundId }) => inboundId))),
  };
}

/** All of them, for a new reader. */
export function allStats(needs: StatsNeeds): ClientStats {
  const clients: TrafficRecord[] = [];
  for (const row of needs.clients.all()) {
    if (clients.length === MOST_ROWS) return { snapshot: false, clients: null, inbounds: all(needs) };
    clients.push(needs.records.of(row));
  }
  const inbounds = all(needs);
  return { snapshot: inbounds !== null, clients, inbounds };
}
const all = (needs: StatsNeeds) =>
  inboundStats(
    needs,
    needs.inbounds.list().map(({ id }) => id),
  );
