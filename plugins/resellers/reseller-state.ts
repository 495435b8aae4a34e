// Resellers and whose each client is, in memory.
import type { Database, Projection } from '../../kernel/index.js';
import type { Reseller, ResellerTables } from './tables.js';

interface State {
  readonly resellers: Map<number, Reseller>;
  /** ids of the clients of each reseller */
  readonly clients: Map<number, Set<number>>;
  /** by id of the client */
  readonly owners: Map<number, number>;
}
/** What one write changes. */
export interface StateChange {
  readonly saved?: Reseller;
  readonly deleted?: number;
  /** clients and their owner; 0: nobody */
  readonly owners?: readonly (readonly [client: number, reseller: number])[];
}

const NONE: ReadonlySet<number> = new Set();

function move({ clients, owners }: State, client: number, reseller: number): void {
  const before = owners.get(client);
  if (before !== undefined) {
    const others = clients.get(before);
    others?.delete(client);
    if (others?.size === 0) clients.delete(before);
  }
  if (reseller === 0) {
    owners.delete(client);
    return;
  }
  owners.set(client, reseller);
  const own = clients.get(reseller);
  if (own) own.add(client);
  else clients.set(reseller, new Set([client]));
}

export class ResellerMemory {
  readonly projection: Projection<State, StateChange>;

  constructor({ db, tables }: { db: Database; tables: ResellerTables }) {
    this.projection = db.projection<State, StateChange>({
      load: async () => {
        const state: State = { resellers: new Map(), clients: new Map(), owners: new Map() };
        for (const row of await tables.resellers.findAll({ order: ['id'] }))
          state.resellers.set(row.get().id, row.get());
        const owned = await db.query<{ client: number; reseller: number }>(
          'SELECT client_id AS client, reseller_id AS reseller FROM reseller_clients WHERE gone_at = 0',
        );
        for (const { client, reseller } of owned) move(state, client, reseller);
        return state;
      },
      apply: (state, { saved, deleted, owners = [] }) => {
        if (saved) state.resellers.set(saved.id, saved);
        if (deleted !== undefined) {
          state.resellers.delete(deleted);
          for (const client of [...(state.clients.get(deleted) ?? [])]) move(state, client, 0);
        }
        for (const [client, reseller] of owners) move(state, client, reseller);
      },
    });
  }

  list(): readonly Reseller[] {
    return [...this.projection.state.resellers.values()];
  }
  find(id: number): Reseller | undefined {
    return this.projection.state.resellers.get(id);
  }
  ofAdmin(adminId: number): Reseller | undefined {
    return adminId === 0 ? undefined : this.list().find((one) => one.adminId === adminId);
  }
  isEmpty(): boolean {
    return this.projection.state.resellers.size === 0;
  }
  /** Ids of the clients of a reseller. Live: do not keep it. */
  clientsOf(id: number): ReadonlySet<number> {
    return this.projection.state.clients.get(id) ?? NONE;
  }
  ownerOf(client: number): Reseller | undefined {
    const id = this.projection.state.owners.get(client);
    return id === undefined ? undefined : this.find(id);
  }
}
