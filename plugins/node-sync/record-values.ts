// Records as a node takes them: what inbounds/add and clients/add take, by our ids.
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { Inbound, InboundsApi } from '../inbounds/contract.js';
import type { Json } from '../nodes/contract.js';
import type { RecordRow } from './tables.js';

export interface SentChange {
  readonly [key: string]: Json | undefined;
  readonly kind: string;
  readonly id: number;
  readonly version: number;
  readonly value: { readonly [key: string]: Json | undefined } | null;
  /** of a client: its inbounds on the node */
  readonly inboundIds?: readonly number[];
}

/** Of this panel alone, or kept here for the node. */
const OF_INBOUND_HERE = ['id', 'nodeId', 'lastTrafficResetTime', 'depletedCause', 'countedSince'] as const;
const OF_CLIENT_HERE = [
  'id',
  'inboundIds',
  'credentials',
  'up',
  'down',
  'lastOnline',
  'lastSubFetch',
  'depletedCause',
  'countedSince',
  'resetCount',
  'elsewhereUp',
  'elsewhereDown',
  'createdAt',
  'updatedAt',
  // Devices fetch their subscription here.
  'limitHwid',
] as const;

const without = (record: object, names: readonly string[]): Record<string, Json | undefined> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

export class RecordValues {
  readonly #inbounds: InboundsApi;
  readonly #clients: ClientsApi;

  constructor({ inbounds, clients }: { inbounds: InboundsApi; clients: ClientsApi }) {
    this.#inbounds = inbounds;
    this.#clients = clients;
  }

  /** The present state, which may be newer than the version. */
  of({ nodeId, kind, id, version, isGone, period }: RecordRow): SentChange {
    const gone = { kind, id, version, value: null };
    if (isGone) return gone;
    if (kind === 'inbound') {
      const inbound = this.#inbounds.get(id);
      return inbound?.nodeId === nodeId ? { kind, id, version, value: ofInbound(inbound) } : gone;
    }
    const client = this.#clients.byId(id);
    const inboundIds = client?.inboundIds.filter((one) => this.#inbounds.get(one)?.nodeId === nodeId) ?? [];
    if (!client || inboundIds.length === 0) return gone;
    return { kind, id, version, value: ofClient(client, inboundIds, period), inboundIds };
  }
}

/** Periods end here, for all machines at once. */
function ofInbound(inbound: Inbound): Record<string, Json | undefined> {
  return { ...without(inbound, OF_INBOUND_HERE), trafficReset: 'never' };
}

function ofClient(
  client: Readonly<ClientRow>,
  inboundIds: readonly number[],
  period: number,
): Record<string, Json | undefined> {
  const credentials = [...(client.credentials ?? [])]
    .filter(([inboundId]) => inboundIds.includes(inboundId))
    .map(([inboundId, credential]) => ({ ...credential, inboundId }) as unknown as Json);
  return {
    ...without(client, OF_CLIENT_HERE),
    reset: 0,
    resetDay: 0,
    trafficReset: 'never',
    period,
    ...(credentials.length > 0 && { credentials }),
  };
}
