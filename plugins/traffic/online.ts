// Clients and inbounds that moved bytes a moment ago. In memory only; the time of the last bytes is written with the usage.
import type { Clock } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage, PresenceSource } from '../clients/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { PresenceApi } from './contract.js';
import type { ReportedPresence } from './reported-presence.js';

/** Unix ms of the last bytes by id, oldest first, so that removing old entries costs only those. */
type Moved = Map<number, number>;

export const POLL_MS = 5000;
/** A client is online for this long after its last bytes, as traffic comes in bursts; at least two polls. */
export const ONLINE_MS = Math.max(20_000, 2 * POLL_MS);

/** `core`: it has no connections while it does not run. */
export type CountedBy = 'core' | 'source';

export class OnlineClients implements PresenceApi, PresenceSource {
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #engine: EngineApi;
  readonly #inbounds: Pick<InboundsApi, 'get' | 'placeOf'>;
  readonly #identity: PanelIdentityApi;
  readonly #reported: ReportedPresence;
  readonly #moved: Readonly<Record<CountedBy, { clients: Moved; inbounds: Moved }>> = {
    core: { clients: new Map(), inbounds: new Map() },
    source: { clients: new Map(), inbounds: new Map() },
  };
  /** clients whose bytes a source counted, by the guid of the panel that served them */
  readonly #bySource = new Map<string, Moved>();

  constructor(needs: {
    clock: Clock;
    clients: ClientsApi;
    engine: EngineApi;
    inbounds: Pick<InboundsApi, 'get' | 'placeOf'>;
    identity: PanelIdentityApi;
    reported: ReportedPresence;
  }) {
    this.#clock = needs.clock;
    this.#clients = needs.clients;
    this.#engine = needs.engine;
    this.#inbounds = needs.inbounds;
    this.#identity = needs.identity;
    this.#reported = needs.reported;
  }

  moved(usage: readonly ClientUsage[], at: number, by: CountedBy = 'core'): void {
    const { clients, inbounds } = this.#moved[by];
    // Thousands of clients are on few inbounds, and a place is asked for among all nodes.
    const servedOn = new Map<number, Moved>();
    for (const { clientId, inboundId } of usage) {
      note(clients, clientId, at);
      note(inbounds, inboundId, at);
      if (by !== 'source') continue;
      const served = servedOn.get(inboundId) ?? this.#served(this.#guidOf(inboundId));
      servedOn.set(inboundId, served);
      note(served, clientId, at);
    }
    forget(clients, at - ONLINE_MS);
    forget(inbounds, at - ONLINE_MS);
    for (const [guid, served] of this.#bySource) {
      forget(served, at - ONLINE_MS);
      if (served.size === 0) this.#bySource.delete(guid);
    }
  }

  #served(guid: string): Moved {
    const known = this.#bySource.get(guid);
    if (known) return known;
    const served: Moved = new Map();
    this.#bySource.set(guid, served);
    return served;
  }

  /** Of a node whose guid is not known, its name. */
  #guidOf(inboundId: number): string {
    const inbound = this.#inbounds.get(inboundId);
    if (!inbound) return this.#identity.guid;
    const { guid, name } = this.#inbounds.placeOf(inbound);
    return guid || `node:${name}`;
  }

  /** Call it when the core has stopped: every connection of its is closed. */
  clear(): void {
    this.#moved.core.clients.clear();
    this.#moved.core.inbounds.clear();
  }

  isOnline(clientId: number): boolean {
    const { core, source } = this.#moved;
    const isRecent =
      this.#isRecent(source.clients.get(clientId)) ||
      (this.#isRecent(core.clients.get(clientId)) && this.#runs()) ||
      this.#reported.has(clientId);
    return isRecent && this.#clients.byId(clientId)?.enable === true;
  }

  online(): number[] {
    const ids = new Set(this.#recent('clients'));
    for (const [, { clients }] of this.#reported.now()) for (const id of clients) ids.add(id);
    return [...ids].filter((id) => this.#clients.byId(id)?.enable);
  }

  activeInbounds(): number[] {
    const ids = new Set(this.#recent('inbounds'));
    for (const [, { inbounds }] of this.#reported.now()) for (const id of inbounds) ids.add(id);
    return [...ids];
  }

  onlineByGuid(): Map<string, number[]> {
    const found = new ByGuid(this.#identity.guid);
    if (this.#runs()) for (const id of this.#recentOf(this.#moved.core.clients)) found.add('', id);
    for (const [guid, served] of this.#bySource) for (const id of this.#recentOf(served)) found.add(guid, id);
    for (const [guid, { clients }] of this.#reported.now()) for (const id of clients) found.add(guid, id);
    return found.ids((id) => this.#clients.byId(id)?.enable === true);
  }

  activeInboundsByGuid(): Map<string, number[]> {
    const found = new ByGuid(this.#identity.guid);
    for (const id of this.#recent('inbounds')) found.add(this.#guidOf(id), id);
    for (const [guid, { inbounds }] of this.#reported.now()) for (const id of inbounds) found.add(guid, id);
    return found.ids((id) => this.#inbounds.get(id) !== undefined);
  }

  #recent(kind: 'clients' | 'inbounds'): number[] {
    const { core, source } = this.#moved;
    const ids = new Set<number>();
    for (const moved of this.#runs() ? [core[kind], source[kind]] : [source[kind]])
      for (const id of this.#recentOf(moved)) ids.add(id);
    return [...ids];
  }

  *#recentOf(moved: Moved): Generator<number> {
    for (const [id, at] of moved) if (this.#isRecent(at)) yield id;
  }

  #isRecent(at: number | undefined): boolean {
    return at !== undefined && at > this.#clock.now() - ONLINE_MS;
  }
  /** Asks the engine, as events come a moment after the core has stopped. */
  #runs(): boolean {
    return this.#engine.status().state === 'running';
  }
}

/** Ids by guid, each once; the blank guid is the own one. */
class ByGuid {
  readonly #own: string;
  readonly #sets = new Map<string, Set<number>>();

  constructor(own: string) {
    this.#own = own;
    this.#sets.set(own, new Set());
  }

  add(guid: string, id: number): void {
    const key = guid || this.#own;
    const ids = this.#sets.get(key);
    if (ids) ids.add(id);
    else this.#sets.set(key, new Set([id]));
  }

  ids(isWanted: (id: number) => boolean): Map<string, number[]> {
    return new Map([...this.#sets].map(([guid, ids]) => [guid, [...ids].filter(isWanted)]));
  }
}

function note(moved: Map<number, number>, id: number, at: number): void {
  moved.delete(id);
  moved.set(id, at);
}

function forget(moved: Map<number, number>, until: number): void {
  for (const [id, at] of moved) {
    if (at > until) break;
    moved.delete(id);
  }
}
