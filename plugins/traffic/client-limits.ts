// Disables clients that a poll finds at a limit, in the database and then in the core.
import { type Database, type Hooks, type Log, type Principal, TimeSlice } from '../../kernel/index.js';
import { type ClientsApi, type ClientUsage, depletionOf } from '../clients/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { Baselines } from './baselines.js';
import { clientDepleted, depletionCandidates } from './contract.js';
import type { StreamBaselines } from './stream-baselines.js';

type Candidate = { readonly id: number; readonly cause: 'quota' | 'expiry' };

export class ClientLimits {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #self: Principal;
  readonly #engine: EngineApi;
  readonly #clients: ClientsApi;
  readonly #baselines: Baselines;
  readonly #streams: StreamBaselines;

  constructor(needs: {
    db: Database;
    hooks: Hooks;
    log: Log;
    self: Principal;
    engine: EngineApi;
    clients: ClientsApi;
    baselines: Baselines;
    streamBaselines: StreamBaselines;
  }) {
    this.#db = needs.db;
    this.#hooks = needs.hooks;
    this.#log = needs.log;
    this.#self = needs.self;
    this.#engine = needs.engine;
    this.#clients = needs.clients;
    this.#baselines = needs.baselines;
    this.#streams = needs.streamBaselines;
  }

  /** Checks clients that moved bytes and those past their expiry; `all`: all that ever moved any. */
  async enforce(usage: readonly ClientUsage[], at: number, all: boolean): Promise<void> {
    const moved = [...new Set(usage.map(({ clientId }) => clientId))];
    const beginning = moved.filter((id) => (this.#clients.byId(id)?.expiryTime ?? 0) < 0);
    const due = new Set([
      ...moved,
      ...(await this.#clients.expired(at)),
      ...(all ? [...this.#baselines.clientIds(), ...this.#streams.clientIds()] : []),
    ]);
    const found: Candidate[] = [];
    const slice = new TimeSlice();
    for (const id of due) {
      if (slice.isOver) await slice.next();
      const client = this.#clients.byId(id);
      const cause = client?.enable ? depletionOf(client, at) : undefined;
      if (cause) found.push({ id, cause });
    }
    const depleted = found.length === 0 ? found : this.#hooks.refine(depletionCandidates, found, { at });
    if (depleted.length + beginning.length === 0) return;
    const foundIds = new Set(found.map(({ id }) => id));
    const gone = await this.#db.write(async (tx) => {
      // A client may have been reset or given more meanwhile; what a plugin added is its decision.
      const due = await this.#clients.atLimit(tx, [...foundIds], at);
      const meant = depleted.filter(({ id }) => due.has(id) || !foundIds.has(id));
      await this.#clients.startExpiry(tx, beginning, at, this.#self);
      await this.#clients.deplete(tx, meant, this.#self);
      const named = meant.flatMap(({ id, cause }) => {
        const client = this.#clients.byId(id);
        return client ? [{ id, cause, email: client.email, inboundIds: client.inboundIds }] : [];
      });
      if (named.length > 0) tx.emit(clientDepleted, { clients: named });
      return named;
    });
    await this.#engine.reconcileUsers(
      // Read again: a client may have been attached since.
      gone.flatMap(({ id: clientId }) =>
        (this.#clients.byId(clientId)?.inboundIds ?? []).map((inboundId) => ({ inboundId, clientId })),
      ),
    );
    if (gone.length > 0) this.#log.info('clients reached a limit and were disabled', { count: gone.length });
  }
}
