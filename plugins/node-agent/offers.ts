// What this panel has and no central manages: a central may adopt it. Reads only.
import { createHash } from 'node:crypto';
import type { ClientRow, ClientsApi, ProgramUsersApi } from '../clients/contract.js';
import type { FallbacksApi } from '../fallbacks/contract.js';
import { type Inbound, type InboundsApi, initialFields } from '../inbounds/contract.js';
import type { NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { Centrals } from './centrals.js';
import { errors } from './errors.js';
import { NOT_OFFERED, type OfferedClient, type OfferedInbound, type OwnInbound } from './offered.js';
import type { Records } from './records.js';
import type { RecordRow } from './tables.js';
import type { UsageJournal } from './usage-journal.js';

/** Clients of one page. */
const PAGE = 500;
/** A poll stores bytes every few seconds. */
const TRIES = 20;

interface Needs {
  readonly clients: ClientsApi;
  readonly users: ProgramUsersApi;
  readonly inbounds: InboundsApi;
  readonly identity: PanelIdentityApi;
  readonly centrals: Centrals;
  readonly records: Records;
  readonly fallbacks: FallbacksApi | undefined;
  readonly nodes: NodesApi | undefined;
  readonly journal: UsageJournal;
}

export class Offers {
  readonly #needs: Needs;

  constructor({ clients, users, inbounds, identity, centrals, records, fallbacks, nodes, journal }: Needs) {
    this.#needs = { journal, clients, users, inbounds, identity, centrals, records, fallbacks, nodes };
  }

  /** Whether this panel has the central as a node itself: each would adopt what it gave to the other. */
  isLoop(central: string): boolean {
    return this.#needs.nodes?.list().some(({ guid }) => guid === central) ?? false;
  }

  /** All inbounds here but those that this central has, and which of its inbounds are which here. */
  async inbounds(central: string): Promise<{ offered: OfferedInbound[]; own: OwnInbound[] }> {
    const { inbounds, records } = this.#needs;
    const owners = await records.owners('inbound');
    const offered: OfferedInbound[] = [];
    const own: OwnInbound[] = [];
    for (const inbound of inbounds.list()) {
      const owner = owners.get(inbound.id);
      const managedBy = owner ? this.#needs.centrals.guidOf(owner.central) : '';
      if (owner && managedBy === central) {
        const { address: originAddress } = inbounds.placeOf(inbound);
        own.push({ id: owner.id, localId: inbound.id, originAddress });
      } else offered.push(this.#offered(inbound, managedBy));
    }
    return { offered, own };
  }

  #offered(inbound: Inbound, managedBy: string): OfferedInbound {
    const { inbounds, fallbacks } = this.#needs;
    const { guid, address } = inbounds.placeOf(inbound);
    const { up, down } = inbounds.usage(inbound.id);
    const names = Object.keys(initialFields) as (keyof Inbound)[];
    const value = Object.fromEntries(
      names.filter((name) => name !== 'nodeId').map((name) => [name, inbound[name]]),
    );
    return {
      id: inbound.id,
      tag: inbound.tag,
      originGuid: guid,
      originAddress: address,
      // One that a limit disabled would be enabled without it.
      value: { ...value, enable: inbound.enable || inbound.depletedCause !== null },
      fallbacks: (fallbacks?.of(inbound.id) ?? []).map(({ id: _, masterId: _master, ...fallback }) => ({
        ...fallback,
        // For a central that does not take the inbound to which it leads.
        dest: fallback.dest || (fallbacks?.destinationOf(fallback.childId) ?? ''),
      })),
      up,
      down,
      managedBy,
    };
  }

  /** Changes when there is something else to adopt. Costs the inbounds, which are few. */
  async digest(central: string): Promise<string> {
    return digestOfOffers(await this.inbounds(central));
  }

  async all(central: string) {
    const { offered, own } = await this.inbounds(central);
    const loop = this.isLoop(central);
    return { guid: this.#needs.identity.guid, loop, digest: digestOfOffers({ offered, own }), offered, own };
  }

  /** Clients of an inbound, by id. */
  async clients(
    central: string,
    inboundId: number,
    after: number,
  ): Promise<{ clients: OfferedClient[]; next: number }> {
    const { users, records, journal } = this.#needs;
    const ids = users
      .attached(inboundId)
      .filter((id) => id > after)
      .sort((a, b) => a - b)
      .slice(0, PAGE);
    const owners = await records.owners('client', ids);
    let page: OfferedClient[] = [];
    // Bytes on their way to the totals would be told to the central that has counted them with the page.
    for (let i = 0; i < TRIES; i++) {
      await journal.move();
      page = await this.#page(central, ids, owners);
      if (await journal.isEmpty())
        return { clients: page, next: ids.length === PAGE ? (ids.at(-1) ?? 0) : 0 };
    }
    throw errors.BUSY();
  }

  async #page(
    central: string,
    ids: readonly number[],
    owners: ReadonlyMap<number, RecordRow>,
  ): Promise<OfferedClient[]> {
    const { clients, centrals } = this.#needs;
    const page: OfferedClient[] = [];
    for (const id of ids) {
      const row = clients.byId(id);
      const owner = owners.get(id);
      const managedBy = owner ? centrals.guidOf(owner.central) : '';
      if (!row) continue;
      const offered = offeredClient(row, managedBy);
      // Its central knows it; it learns that it is in this inbound too.
      page.push(
        owner && managedBy === central
          ? { ...offered, recordId: owner.id, value: {}, managedBy: '' }
          : offered,
      );
    }
    return page;
  }
}

function digestOfOffers({
  offered,
  own,
}: {
  readonly offered: readonly OfferedInbound[];
  readonly own: readonly OwnInbound[];
}): string {
  const lines = [
    ...offered.map(({ id, tag, managedBy }) => `${id}:${tag}:${managedBy}`),
    ...own.map(({ id, localId, originAddress }) => `${id}:${localId}:${originAddress}`),
  ];
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 16);
}

function offeredClient(row: Readonly<ClientRow>, managedBy: string): OfferedClient {
  const { id, inboundIds, up, down, lastOnline, lastSubFetch, resetCount } = row;
  return {
    id,
    recordId: 0,
    value: Object.fromEntries(Object.entries(row).filter(([name]) => !NOT_OFFERED.includes(name))),
    inboundIds: [...inboundIds],
    credentials: [...(row.credentials ?? [])].map(([inboundId, one]) => ({ ...one, inboundId })),
    ...{ up, down, lastOnline, lastSubFetch, resetCount, managedBy },
  };
}
