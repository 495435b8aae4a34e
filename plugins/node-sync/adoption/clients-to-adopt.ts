// Clients of a node become clients of this panel, with their credentials, limits and counters: a page in a few transactions.
import type { Clock, Principal, Tx } from '../../../kernel/index.js';
import type { ClientEditsApi, ClientRow, ClientsApi, WantedClient } from '../../clients/contract.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { NOT_OFFERED, type OfferedClient } from '../../node-agent/contract.js';
import type { UsageByMachine } from '../usage-by-machine.js';
import type { AdoptionStore, Taken } from './adoption-store.js';

export interface LeftClient {
  readonly remoteId: number;
  readonly name: string;
  readonly reason: string;
}
interface Planned {
  readonly offer: OfferedClient;
  readonly wanted: WantedClient;
}
const NONE: ReadonlySet<number> = new Set();
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export class ClientsToAdopt {
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #edits: ClientEditsApi;
  readonly #adoptions: AdoptionStore;
  readonly #usage: UsageByMachine;
  readonly #inbounds: Pick<InboundsApi, 'get'>;

  constructor(needs: {
    clock: Clock;
    inbounds: InboundsApi;
    clients: ClientsApi;
    clientEdits: ClientEditsApi;
    adoptions: AdoptionStore;
    byMachine: UsageByMachine;
  }) {
    this.#clock = needs.clock;
    this.#clients = needs.clients;
    this.#edits = needs.clientEdits;
    this.#adoptions = needs.adoptions;
    this.#usage = needs.byMachine;
    this.#inbounds = needs.inbounds;
  }

  /** `inbounds`: ids at the node to ours. Returns those that stay with the node. A page that is taken again changes nothing more. */
  async add(
    nodeId: number,
    page: readonly OfferedClient[],
    inbounds: ReadonlyMap<number, number>,
    who: Principal,
  ): Promise<LeftClient[]> {
    const left: LeftClient[] = [];
    const planned: Planned[] = [];
    for (const offer of page) {
      const wanted = this.#wanted(nodeId, offer, inbounds);
      if (typeof wanted === 'string')
        left.push({ remoteId: offer.id, name: textOf(offer.value['email']), reason: wanted });
      else if (wanted) planned.push({ offer, wanted });
    }
    const outcomes = await this.#edits.make(
      planned.map(({ wanted }) => wanted),
      who,
      (tx, ids) => this.#made(tx, nodeId, planned, ids),
    );
    for (const [i, { offer }] of planned.entries()) {
      const outcome = outcomes[i];
      if (outcome && 'error' in outcome)
        left.push({
          remoteId: offer.id,
          name: textOf(offer.value['email']),
          reason: outcome.error.message,
        });
    }
    return left;
  }

  /** What the client is to be here; a sentence when it cannot be, undefined when there is nothing to do. */
  #wanted(
    nodeId: number,
    offer: OfferedClient,
    inbounds: ReadonlyMap<number, number>,
  ): WantedClient | string | undefined {
    const inboundIds = offer.inboundIds.flatMap((id) => inbounds.get(id) ?? []);
    const credentials = offer.credentials.flatMap(({ inboundId, ...own }) => {
      const id = inbounds.get(inboundId as number);
      return id === undefined ? [] : [{ ...own, inboundId: id }];
    });
    const { managedBy, recordId, value } = offer;
    if (managedBy !== '') return `another panel manages it: ${managedBy}`;
    const email = textOf(value['email']);
    const row = recordId > 0 ? this.#clients.byId(recordId) : this.#clients.byEmail(email);
    // It was deleted here, and the node does not have that yet; or the node was never sent this client.
    if (recordId > 0 && !row?.inboundIds.some((id) => this.#inbounds.get(id)?.nodeId === nodeId))
      return undefined;
    if (row && recordId === 0 && !isSame(row, value))
      return `a client ${row.email} with another subId and UUID is here already; change the email of one of them`;
    if (row) {
      const all = [...new Set([...row.inboundIds, ...inboundIds])];
      const isKnown =
        all.length === row.inboundIds.length && (recordId > 0 || this.#isCounted(nodeId, row, offer));
      if (isKnown) return undefined;
      const own = Object.fromEntries(Object.entries(row).filter(([name]) => !NOT_OFFERED.includes(name)));
      // A limit disabled it, not an admin.
      const enable = row.enable || row.depletedCause !== null;
      return { id: row.id, client: { ...own, enable, credentials }, inboundIds: all, managed: NONE };
    }
    const { up, down, resetCount } = offer;
    const lastOnline = this.#past(offer.lastOnline);
    const lastSubFetch = this.#past(offer.lastSubFetch);
    return {
      client: { ...value, credentials },
      inboundIds,
      managed: NONE,
      used: { up, down, lastOnline, lastSubFetch, resetCount },
    };
  }

  /** Clocks differ, and a node may lie: what was last is over. */
  #past(at: number): number {
    return Math.min(at, this.#clock.now());
  }

  #isCounted(nodeId: number, { id }: Readonly<ClientRow>, offer: OfferedClient): boolean {
    const { up, down } = this.#usage.of(id, nodeId);
    return up >= offer.up && down >= offer.down;
  }

  /** What this panel has counted on the node already is not counted again. */
  async #made(
    tx: Tx,
    nodeId: number,
    planned: readonly Planned[],
    ids: ReadonlyMap<number, number>,
  ): Promise<void> {
    const taken: Taken[] = [];
    const machine: { clientId: number; nodeId: number; up: number; down: number }[] = [];
    for (const [i, clientId] of ids) {
      const { offer, wanted } = planned[i] as Planned;
      // The node tells the usage of a client that it knows as ours.
      if (offer.recordId > 0) continue;
      const known = wanted.id === undefined ? { up: 0, down: 0 } : this.#usage.of(clientId, nodeId);
      const up = Math.max(0, offer.up - known.up);
      const down = Math.max(0, offer.down - known.down);
      taken.push({ clientId, up: offer.up, down: offer.down });
      if (up + down === 0) continue;
      machine.push({ clientId, nodeId, up, down });
      // A new one has them from the beginning.
      const inboundId = wanted.inboundIds[0] ?? 0;
      if (wanted.id !== undefined)
        await this.#clients.addUsage(tx, [{ clientId, inboundId, up, down }], this.#past(offer.lastOnline));
    }
    await this.#adoptions.take(tx, nodeId, taken);
    await this.#usage.adopted(machine, tx);
  }
}

/** Surely the same person: a name alone may be two. */
function isSame({ subId, uuid }: Readonly<ClientRow>, value: OfferedClient['value']): boolean {
  return textOf(value['subId']) === subId || textOf(value['uuid']).toLowerCase() === uuid.toLowerCase();
}
