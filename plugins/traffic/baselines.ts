// The last counted reading of each counter. The core's counters only grow while it runs, so the bytes of a poll are the
// difference to the last reading. The new reading is written in the transaction of the bytes: none counts twice, none is
// lost.
import type { Database, Projection, Tx } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage } from '../clients/contract.js';
import type { CoreCounters } from '../engine/contract.js';
import type { TrafficTables } from './tables.js';

export interface Reading {
  readonly clientId: number;
  readonly inboundId: number;
  readonly epoch: string;
  /** bytes since the core's start */
  readonly up: number;
  readonly down: number;
}
/** By inbound. */
type OfClient = Map<number, Pick<Reading, 'epoch' | 'up' | 'down'>>;
type ByClient = Map<number, OfClient>;
type Change = { readonly read: readonly Reading[] } | { readonly deleted: readonly number[] };

export class Baselines {
  /** for tests, which compare it with the database */
  readonly memory: Projection<ByClient, Change>;
  /**
   * Readings of clients that are deleted with their traffic kept: their rows go, while the core may still count for them.
   * Not a part of the projection, as a reload would lose them.
   */
  readonly #leaving: ByClient = new Map();

  constructor({
    db,
    tables,
    clients,
  }: { db: Database; tables: TrafficTables; clients: Pick<ClientsApi, 'byId'> }) {
    this.memory = db.projection<ByClient, Change>({
      load: async () => {
        const state: ByClient = new Map();
        // Plain rows: 200,000 take 0.9 s, as with a statement of our own.
        for (const row of await tables.baselines.findAll({ raw: true }))
          put(state, row as unknown as Reading);
        return state;
      },
      apply: (state, change) => {
        if ('read' in change) {
          // A client that was deleted meanwhile has no rows here; changes arrive in the order of the commits.
          for (const reading of change.read) if (clients.byId(reading.clientId)) put(state, reading);
          return;
        }
        for (const id of change.deleted) state.delete(id);
      },
    });
  }

  /** Call it before clients are deleted with their traffic kept. Without it, no byte of theirs counts after the deletion. */
  expectDeletion(clientIds: readonly number[]): void {
    const { state } = this.memory;
    for (const id of clientIds) this.#leaving.set(id, new Map(state.get(id)));
  }

  /** Readings that moved, and the bytes they moved by. A counter that fell in the same core started again at zero: all of it counts. Counters of clients that `exists` does not know are skipped: the core keeps those of deleted clients until it stops. */
  compare(
    { epoch, users }: CoreCounters,
    exists: (clientId: number) => boolean,
  ): { readings: Reading[]; usage: ClientUsage[] } {
    for (const id of this.#leaving.keys()) if (!exists(id)) this.#leaving.delete(id);
    const { state } = this.memory;
    const readings: Reading[] = [];
    const usage: ClientUsage[] = [];
    for (const { clientId, inboundId, up, down } of users) {
      if (!exists(clientId)) continue;
      const last = (state.get(clientId) ?? this.#leaving.get(clientId))?.get(inboundId);
      const same = last !== undefined && last.epoch === epoch && up >= last.up && down >= last.down;
      const delta = { up: up - (same ? last.up : 0), down: down - (same ? last.down : 0) };
      if (delta.up + delta.down === 0) continue;
      readings.push({ epoch, clientId, inboundId, up, down });
      usage.push({ clientId, inboundId, ...delta });
    }
    return { readings, usage };
  }

  /** Call it when the transaction of `save` is committed. */
  saved(readings: readonly Reading[]): void {
    for (const reading of readings) if (this.#leaving.has(reading.clientId)) put(this.#leaving, reading);
  }

  /** One statement: through the model 10,000 rows take seconds, here some 40 ms. */
  async save(tx: Tx, readings: readonly Reading[]): Promise<void> {
    const { rows, incoming, onConflict } = tx.sql;
    // The join leaves out clients that were deleted meanwhile.
    await tx.run(
      `INSERT INTO traffic_baselines (client_id, inbound_id, epoch, up, down)
       SELECT j.client_id, j.inbound_id, :epoch, j.up, j.down FROM ${rows({ client_id: 'integer', inbound_id: 'integer', up: 'integer', down: 'integer' })} AS j JOIN clients ON clients.id = j.client_id WHERE true
       ${onConflict('client_id, inbound_id', ['epoch', 'up', 'down'].map((column) => `${column} = ${incoming(column)}`).join(', '))}`,
      {
        epoch: readings[0]?.epoch ?? '',
        rows: JSON.stringify(
          readings.map(({ clientId, inboundId, up, down }) => [clientId, inboundId, up, down]),
        ),
      },
    );
    tx.apply(this.memory, { read: readings });
  }

  /** Call it in the transaction that deletes clients: the database deletes their rows with them. */
  deleted(tx: Tx, clientIds: readonly number[]): void {
    tx.apply(this.memory, { deleted: clientIds });
  }

  /** Clients that have been counted at least once. */
  clientIds(): Iterable<number> {
    return this.memory.state.keys();
  }
}

function put(state: ByClient, { clientId, inboundId, epoch, up, down }: Reading): void {
  let ofClient = state.get(clientId);
  if (!ofClient) state.set(clientId, (ofClient = new Map()));
  ofClient.set(inboundId, { epoch, up, down });
}
