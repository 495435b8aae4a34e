// Who is online as it is shown: what the panel that counts knows, where several share a database.
import type { ClientsApi, PresenceSource } from '../clients/contract.js';
import type { PanelsApi, SharedFigure } from '../cluster/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { PresenceApi } from './contract.js';
import type { OnlineClients } from './online.js';

type Lists = readonly (readonly [guid: string, ids: readonly number[]])[];
interface Told {
  readonly clients: Lists;
  readonly inbounds: Lists;
}
interface Elsewhere {
  readonly clients: Lists;
  readonly inbounds: Lists;
  readonly clientIds: ReadonlySet<number>;
  readonly inboundIds: ReadonlySet<number>;
}

const idsOf = (lists: Lists): ReadonlySet<number> => new Set(lists.flatMap(([, ids]) => ids));

export class ShownPresence implements PresenceApi, PresenceSource, SharedFigure<Told> {
  readonly name = 'presence';
  readonly #online: OnlineClients;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #inbounds: Pick<InboundsApi, 'get'>;
  readonly #panels: PanelsApi | undefined;
  #told: Elsewhere | undefined;

  constructor({
    online,
    clients,
    inbounds,
    panels,
  }: {
    online: OnlineClients;
    clients: Pick<ClientsApi, 'byId'>;
    inbounds: Pick<InboundsApi, 'get'>;
    panels?: PanelsApi | undefined;
  }) {
    this.#online = online;
    this.#clients = clients;
    this.#inbounds = inbounds;
    this.#panels = panels;
  }

  /** undefined where this panel counts itself, and before the other one has told anything */
  get #elsewhere(): Elsewhere | undefined {
    return this.#panels?.leads === false ? this.#told : undefined;
  }

  read(): Told {
    return { clients: [...this.#online.onlineByGuid()], inbounds: [...this.#online.activeInboundsByGuid()] };
  }
  take(told: Told | undefined): void {
    this.#told = told && {
      ...told,
      clientIds: idsOf(told.clients),
      inboundIds: idsOf(told.inbounds),
    };
  }

  isOnline(clientId: number): boolean {
    const { clientIds } = this.#elsewhere ?? {};
    if (!clientIds) return this.#online.isOnline(clientId);
    return clientIds.has(clientId) && this.#clients.byId(clientId)?.enable === true;
  }
  online(): readonly number[] {
    const { clientIds } = this.#elsewhere ?? {};
    if (!clientIds) return this.#online.online();
    return [...clientIds].filter((id) => this.#clients.byId(id)?.enable);
  }
  activeInbounds(): readonly number[] {
    const { inboundIds } = this.#elsewhere ?? {};
    return inboundIds ? [...inboundIds] : this.#online.activeInbounds();
  }
  onlineByGuid(): ReadonlyMap<string, readonly number[]> {
    const told = this.#elsewhere;
    if (!told) return this.#online.onlineByGuid();
    return listed(told.clients, (id) => this.#clients.byId(id)?.enable === true);
  }
  activeInboundsByGuid(): ReadonlyMap<string, readonly number[]> {
    const told = this.#elsewhere;
    if (!told) return this.#online.activeInboundsByGuid();
    return listed(told.inbounds, (id) => this.#inbounds.get(id) !== undefined);
  }
}

const listed = (lists: Lists, isWanted: (id: number) => boolean): Map<string, readonly number[]> =>
  new Map(lists.map(([guid, ids]) => [guid, ids.filter(isWanted)]));
