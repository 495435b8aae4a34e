// Records as a node takes them: what inbounds/add and clients/add take, by our ids.
import { TimeSlice } from '../../kernel/index.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { FallbacksApi } from '../fallbacks/contract.js';
import type { Inbound, InboundsApi } from '../inbounds/contract.js';
import type { Json } from '../nodes/contract.js';
import type { AdoptionStore } from './adoption/adoption-store.js';
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
/** What was counted of an adopted client when it was read. */
type Bytes = { readonly up: number; readonly down: number };

/** Of this panel alone, or kept here for the node. */
const OF_INBOUND_HERE = [
  ...['id', 'nodeId', 'originGuid', 'lastTrafficResetTime', 'depletedCause', 'countedSince'],
];
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
] as const;

const without = (record: object, names: readonly string[]): Record<string, Json | undefined> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

export class RecordValues {
  readonly #inbounds: InboundsApi;
  readonly #clients: ClientsApi;

  readonly #adoptions: AdoptionStore;
  readonly #fallbacks: FallbacksApi | undefined;

  constructor({
    inbounds,
    clients,
    adoptions,
    fallbacks,
  }: {
    inbounds: InboundsApi;
    clients: ClientsApi;
    adoptions: AdoptionStore;
    fallbacks: FallbacksApi | undefined;
  }) {
    this.#inbounds = inbounds;
    this.#clients = clients;
    this.#adoptions = adoptions;
    this.#fallbacks = fallbacks;
  }

  /** What these records say, in their order. */
  async all(nodeId: number, rows: readonly RecordRow[]): Promise<SentChange[]> {
    const clientIds = rows.filter(({ kind, isGone }) => kind === 'client' && !isGone).map(({ id }) => id);
    const taken = await this.#adoptions.taken(nodeId, clientIds);
    const slice = new TimeSlice();
    const changes: SentChange[] = [];
    for (const row of rows) {
      if (slice.isOver) await slice.next();
      changes.push(this.of(row, taken));
    }
    return changes;
  }

  /** The present state, which may be newer than the version. */
  of(
    { nodeId, kind, id, version, isGone, isReleased, period }: RecordRow,
    taken: ReadonlyMap<number, Bytes> = new Map(),
  ): SentChange {
    const gone = { kind, id, version, value: null };
    if (isGone) return isReleased ? { ...gone, release: true } : gone;
    if (kind === 'inbound') {
      const inbound = this.#inbounds.get(id);
      return inbound?.nodeId === nodeId ? { kind, id, version, ...this.#ofInbound(inbound) } : gone;
    }
    const client = this.#clients.byId(id);
    const inboundIds = client?.inboundIds.filter((one) => this.#inbounds.get(one)?.nodeId === nodeId) ?? [];
    if (!client || inboundIds.length === 0) return gone;
    const { up = 0, down = 0 } = taken.get(id) ?? {};
    return {
      ...{ kind, id, version, value: ofClient(client, inboundIds, period), inboundIds },
      ...(taken.has(id) && { taken: { up, down } }),
    };
  }

  /** Its tag there is the one that it had, until another one is chosen here. */
  #ofInbound(inbound: Inbound): Pick<SentChange, 'value'> & { readonly adopts?: number } {
    const adopted = this.#adoptions.of(inbound.id);
    const fallbacks = this.#fallbacks?.of(inbound.id) ?? [];
    const sendsFallbacks =
      this.#fallbacks?.isMaster(inbound.protocol) === true &&
      (fallbacks.length > 0 || adopted?.keepsFallbacks !== true);
    const value = {
      ...ofInbound(inbound),
      ...(adopted && adopted.tag === inbound.tag && { tag: adopted.remoteTag }),
      ...(sendsFallbacks && { fallbacks: fallbacks.map(({ id: _, masterId: _master, ...one }) => one) }),
    };
    return { value, ...(adopted && { adopts: adopted.remoteId }) };
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
