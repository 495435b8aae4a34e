// The last counted reading of each counter. The core's counters only grow while it runs, so the bytes of a poll are the
// difference to the last reading. The new reading is written in the transaction of the bytes: none counts twice, none is
// lost.
import { type Database, type Projection, TimeSlice, type Tx } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage } from '../clients/contract.js';
import type { CoreCounters } from '../engine/contract.js';
import type { ReadingJournal } from './reading-journal.js';
import type { TrafficTables } from './tables.js';
import { UnsavedReadings } from './unsaved-readings.js';

export interface Reading {
  readonly clientId: number;
  readonly inboundId: number;
  readonly epoch: string;
  /** bytes since the core's start */
  readonly up: number;
  readonly down: number;
}
/** Finds a reading that is stored elsewhere. */
export type LastReading = (
  clientId: number,
  inboundId: number,
) => Pick<Reading, 'epoch' | 'up' | 'down'> | undefined;
/** By inbound. */
type OfClient = Map<number, { epoch: string; up: number; down: number }>;
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
  readonly #journal: ReadingJournal;
  readonly #unsaved = new UnsavedReadings();

  constructor({
    db,
    tables,
    clients,
    journal,
  }: { db: Database; tables: TrafficTables; clients: Pick<ClientsApi, 'byId'>; journal: ReadingJournal }) {
    this.#journal = journal;
    this.memory = db.projection<ByClient, Change>({
      load: async () => {
        const state: ByClient = new Map();
        // Plain rows: 200,000 take 0.9 s, as with a statement of our own.
        for (const row of await tables.baselines.findAll({ raw: true }))
          put(state, row as unknown as Reading);
        await journal.each((reading) => put(state, reading));
        return state;
      },
      apply: async (state, change) => {
        if ('read' in change) {
          const slice = new TimeSlice();
          for (const reading of change.read) {
            if (slice.isOver) await slice.next();
            // A client that was deleted meanwhile has no rows here; changes arrive in the order of the commits.
            if (clients.byId(reading.clientId)) put(state, reading);
          }
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

  /** Readings that moved, and the bytes they moved by. A counter that fell in the same core started again at zero: all of it counts. Counters of clients that `exists` does not know are skipped: the core keeps those of deleted clients until it stops. `otherwise`: where this core may have been counted since. */
  async compare(
    counters: Pick<CoreCounters, 'epoch' | 'users'>,
    exists: (clientId: number) => boolean,
    otherwise?: LastReading,
  ): Promise<{ readings: Reading[]; usage: ClientUsage[] }> {
    const { epoch, users } = counters;
    for (const id of this.#leaving.keys()) if (!exists(id)) this.#leaving.delete(id);
    const { state } = this.memory;
    const stored = (clientId: number, inboundId: number) =>
      (state.get(clientId) ?? this.#leaving.get(clientId))?.get(inboundId);
    const readings: Reading[] = [];
    const usage: ClientUsage[] = [];
    const slice = new TimeSlice();
    for (const { clientId, inboundId, up, down } of users) {
      if (slice.isOver) await slice.next();
      const last = otherwise?.(clientId, inboundId) ?? stored(clientId, inboundId);
      const same = last !== undefined && last.epoch === epoch && up >= last.up && down >= last.down;
      const delta = { up: up - (same ? last.up : 0), down: down - (same ? last.down : 0) };
      if (delta.up + delta.down === 0 || !exists(clientId)) continue;
      readings.push({ epoch, clientId, inboundId, up, down });
      usage.push({ clientId, inboundId, ...delta });
    }
    // Loaded again meanwhile, because it was wrong.
    if (this.memory.state !== state) return this.compare(counters, exists, otherwise);
    const earlier = this.#unsaved.ofEarlierCores(epoch, stored).filter(({ clientId }) => exists(clientId));
    if (earlier.length === 0) return { readings, usage };
    const key = (of: { readonly clientId: number; readonly inboundId: number }) =>
      `${of.inboundId}.${of.clientId}`;
    const sums = new Map(usage.map((entry) => [key(entry), entry]));
    for (const { clientId, inboundId, up, down } of earlier) {
      const sum = sums.get(key({ clientId, inboundId }));
      // The database must know that it has them, also where this core has counted nothing yet.
      if (!sum) readings.push({ epoch, clientId, inboundId, up: 0, down: 0 });
      const added = { clientId, inboundId, up: up + (sum?.up ?? 0), down: down + (sum?.down ?? 0) };
      sums.set(key(added), added);
    }
    return { readings, usage: [...sums.values()] };
  }

  /** The stored reading of a counter. */
  readonly reading: LastReading = (clientId, inboundId) => this.memory.state.get(clientId)?.get(inboundId);

  /** Whether bytes of an earlier core wait for a database that can be written. */
  get hasUnsaved(): boolean {
    return !this.#unsaved.isEmpty;
  }

  /** Call it when the transaction of `save` has failed. */
  notSaved(readings: readonly Reading[]): void {
    this.#unsaved.hold(readings);
  }

  /** Call it when the transaction of `save` is committed. */
  saved(readings: readonly Reading[]): void {
    this.#unsaved.clear();
    if (this.#leaving.size === 0) return;
    for (const reading of readings) if (this.#leaving.has(reading.clientId)) put(this.#leaving, reading);
  }

  async save(tx: Tx, readings: readonly Reading[]): Promise<void> {
    await this.#journal.append(tx, readings);
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
  const last = ofClient.get(inboundId);
  if (last) [last.epoch, last.up, last.down] = [epoch, up, down];
  else ofClient.set(inboundId, { epoch, up, down });
}
