// Clients and inbounds that moved bytes a moment ago. In memory only; the time of the last bytes is written with the usage.
import type { Clock } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage, PresenceSource } from '../clients/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { PresenceApi } from './contract.js';

export const POLL_MS = 5000;
/** A client is online for this long after its last bytes, as traffic comes in bursts; at least two polls. */
export const ONLINE_MS = Math.max(20_000, 2 * POLL_MS);

export class OnlineClients implements PresenceApi, PresenceSource {
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #engine: EngineApi;
  /** Unix ms of the last bytes by id, oldest first, so that removing old entries costs only those. */
  readonly #clientMoved = new Map<number, number>();
  readonly #inboundMoved = new Map<number, number>();

  constructor({ clock, clients, engine }: { clock: Clock; clients: ClientsApi; engine: EngineApi }) {
    this.#clock = clock;
    this.#clients = clients;
    this.#engine = engine;
  }

  moved(usage: readonly ClientUsage[], at: number): void {
    for (const { clientId, inboundId } of usage) {
      note(this.#clientMoved, clientId, at);
      note(this.#inboundMoved, inboundId, at);
    }
    forget(this.#clientMoved, at - ONLINE_MS);
    forget(this.#inboundMoved, at - ONLINE_MS);
  }

  /** Call it when the core has stopped: every connection is closed. */
  clear(): void {
    this.#clientMoved.clear();
    this.#inboundMoved.clear();
  }

  isOnline(clientId: number): boolean {
    return (
      this.#isRecent(this.#clientMoved.get(clientId)) &&
      this.#clients.byId(clientId)?.enable === true &&
      this.#runs()
    );
  }

  online(): number[] {
    return this.#runs()
      ? [...this.#clientMoved]
          .filter(([id, at]) => this.#isRecent(at) && this.#clients.byId(id)?.enable)
          .map(([id]) => id)
      : [];
  }

  activeInbounds(): number[] {
    return this.#runs()
      ? [...this.#inboundMoved].filter(([, at]) => this.#isRecent(at)).map(([id]) => id)
      : [];
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
