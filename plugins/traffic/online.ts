// Clients and inbounds that moved bytes a moment ago. In memory only; the time of the last bytes is written with the usage.
import type { Clock } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage, PresenceSource } from '../clients/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { PresenceApi } from './contract.js';

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
  readonly #moved: Readonly<Record<CountedBy, { clients: Moved; inbounds: Moved }>> = {
    core: { clients: new Map(), inbounds: new Map() },
    source: { clients: new Map(), inbounds: new Map() },
  };

  constructor({ clock, clients, engine }: { clock: Clock; clients: ClientsApi; engine: EngineApi }) {
    this.#clock = clock;
    this.#clients = clients;
    this.#engine = engine;
  }

  moved(usage: readonly ClientUsage[], at: number, by: CountedBy = 'core'): void {
    const { clients, inbounds } = this.#moved[by];
    for (const { clientId, inboundId } of usage) {
      note(clients, clientId, at);
      note(inbounds, inboundId, at);
    }
    forget(clients, at - ONLINE_MS);
    forget(inbounds, at - ONLINE_MS);
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
      (this.#isRecent(core.clients.get(clientId)) && this.#runs());
    return isRecent && this.#clients.byId(clientId)?.enable === true;
  }

  online(): number[] {
    return this.#recent('clients').filter((id) => this.#clients.byId(id)?.enable);
  }

  activeInbounds(): number[] {
    return this.#recent('inbounds');
  }

  #recent(kind: 'clients' | 'inbounds'): number[] {
    const { core, source } = this.#moved;
    const ids = new Set<number>();
    for (const moved of this.#runs() ? [core[kind], source[kind]] : [source[kind]])
      for (const [id, at] of moved) if (this.#isRecent(at)) ids.add(id);
    return [...ids];
  }

  #isRecent(at: number | undefined): boolean {
    return at !== undefined && at > this.#clock.now() - ONLINE_MS;
  }
  /** Asks the engine, as events come a moment after the core has stopped. */
  #runs(): boolean {
    return this.#engine.status().state === 'running';
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
