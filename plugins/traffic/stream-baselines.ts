// The last counted reading of each counter beside the core's, as `baselines.ts` has them for the core: the bytes of a poll
// are the difference to it, and both are written in one transaction.
import { type Database, type Projection, TimeSlice, type Tx } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage } from '../clients/contract.js';
import type { LastReading, Reading } from './baselines.js';
import { HeldReadings } from './held-readings.js';
import { CORE_STREAMS, type OwnCore } from './own-core.js';
import type { SourceReading } from './source-reader.js';
import type { TrafficTables } from './tables.js';

interface Counter {
  readonly epoch: string;
  readonly up: number;
  readonly down: number;
}
/** A counter as it is stored. */
export interface StreamCounter extends Counter {
  readonly stream: string;
  readonly clientId: number;
  readonly inboundId: number;
}
/** By stream, client and inbound. */
type Stored = Map<string, Map<number, Map<number, Counter>>>;
type Change = { readonly read: readonly StreamCounter[] } | { readonly deleted: readonly number[] };

/** What the readings add to what is stored. */
export interface Compared {
  readonly counters: readonly StreamCounter[];
  readonly usage: readonly ClientUsage[];
  /** counters that moved more than they can have */
  readonly excessive: readonly (StreamCounter & { readonly bytes: number })[];
}

const NOTHING = { up: 0, down: 0 } as const;
const NONE: ReadonlySet<string> = new Set();
/** Counters of one statement. */
const BATCH_SIZE = 5000;
const COLUMNS = {
  stream: 'text',
  client_id: 'integer',
  inbound_id: 'integer',
  epoch: 'text',
  up: 'integer',
  down: 'integer',
} as const;

export class StreamBaselines {
  /** for tests, which compare it with the database */
  readonly memory: Projection<Stored, Change>;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #held = new HeldReadings();
  readonly #own: string | undefined;
  /**
   * Readings of the own core of clients that are deleted: an undo in another panel brings them back, and the core still has
   * their counters.
   */
  readonly #leaving = new Map<number, Map<number, Counter>>();
  #ownEpoch = '';
  /** what other panels have counted since `takeMoved`, by client */
  #moved = new Map<number, Set<number>>();

  constructor({
    db,
    tables,
    clients,
    ownCore,
  }: {
    db: Database;
    tables: TrafficTables;
    clients: Pick<ClientsApi, 'byId'>;
    ownCore: Pick<OwnCore, 'stream'>;
  }) {
    this.#clients = clients;
    this.#own = ownCore.stream;
    this.memory = db.projection<Stored, Change>({
      load: async () => {
        const state: Stored = new Map();
        for (const row of await tables.streams.findAll({ raw: true }))
          put(state, row as unknown as StreamCounter);
        return state;
      },
      apply: async (state, change) => {
        if ('deleted' in change) {
          for (const [stream, ofStream] of state) {
            for (const id of change.deleted) {
              const ofClient = stream === this.#own ? ofStream.get(id) : undefined;
              if (ofClient) this.#leaving.set(id, ofClient);
              ofStream.delete(id);
            }
            if (ofStream.size === 0) state.delete(stream);
          }
          return;
        }
        const slice = new TimeSlice();
        for (const counter of change.read) {
          if (slice.isOver) await slice.next();
          if (!clients.byId(counter.clientId)) continue;
          put(state, counter);
          this.#note(counter);
        }
      },
    });
  }

  /** Notes what panels of the same database count, this one included. */
  #note({ stream, clientId, inboundId }: StreamCounter): void {
    if (this.#own === undefined) return;
    if (stream === this.#own) this.#leaving.delete(clientId);
    const inbounds = this.#moved.get(clientId);
    if (inbounds) inbounds.add(inboundId);
    else this.#moved.set(clientId, new Set([inboundId]));
  }

  /** Notes a counter of a client that is deleted, perhaps while this panel did not run. */
  #leave({ clientId, inboundId, epoch, up, down }: StreamCounter): void {
    const ofClient = this.#leaving.get(clientId) ?? new Map<number, Counter>();
    this.#leaving.set(clientId, ofClient.set(inboundId, { epoch, up, down }));
  }

  /** Returns who has moved bytes since the last call, by what any of several panels has counted; the bytes are not repeated. */
  takeMoved(): ClientUsage[] {
    const moved = [...this.#moved].flatMap(([clientId, inbounds]) =>
      [...inbounds].map((inboundId) => ({ clientId, inboundId, ...NOTHING })),
    );
    this.#moved = new Map();
    return moved;
  }

  #ofCores() {
    return [...this.memory.state].filter(([stream]) => stream.startsWith(CORE_STREAMS));
  }

  /** Finds readings of this process of a core, from when the panel was one of several. They are later than those from when it was alone. */
  ofCore(epoch: string): LastReading | undefined {
    const streams = this.#ofCores();
    if (streams.length === 0) return undefined;
    return (clientId, inboundId) =>
      streams
        .map(([, ofStream]) => ofStream.get(clientId)?.get(inboundId))
        .find((counter) => counter?.epoch === epoch);
  }

  /** What to save with readings of a panel that is alone again: its counters of the core are no longer the later ones. */
  outdatedBy(readings: readonly Reading[]): StreamCounter[] {
    return this.#ofCores().flatMap(([stream, ofStream]) =>
      readings
        .filter(({ clientId, inboundId, epoch }) => ofStream.get(clientId)?.get(inboundId)?.epoch === epoch)
        .map(({ clientId, inboundId }) => ({ stream, clientId, inboundId, epoch: '', ...NOTHING })),
    );
  }

  /** Whether bytes wait for a database that can be written. */
  get hasUnsaved(): boolean {
    return !this.#held.isEmpty;
  }

  /** Compares these readings, after those that could not be saved. Counters of clients that are gone are skipped. `otherwise`: where the own core may have been counted before. */
  async compare(readings: readonly SourceReading[], otherwise?: LastReading): Promise<Compared> {
    const { state } = this.memory;
    const found = new Map<string, StreamCounter>();
    const sums = new Map<string, { clientId: number; inboundId: number; up: number; down: number }>();
    const excessive: Compared['excessive'][number][] = [];
    const slice = new TimeSlice();
    const nameOf = (stream: string, clientId: number, inboundId: number) =>
      `${clientId} ${inboundId} ${stream}`;
    const ordered = this.#held.before(readings);
    for (const [
      index,
      { stream, epoch, users, isComplete, neverFalls, most = Infinity },
    ] of ordered.entries()) {
      const later = index < ordered.length - readings.length ? epochsAfter(ordered, index) : NONE;
      const seen = isComplete ? new Set<string>() : undefined;
      const isOwn = stream === this.#own;
      if (isOwn && epoch !== this.#ownEpoch) {
        this.#leaving.clear();
        this.#ownEpoch = epoch;
      }
      for (const { clientId, inboundId, up, down } of users) {
        if (slice.isOver) await slice.next();
        if (!this.#clients.byId(clientId)) {
          if (isOwn) this.#leave({ stream, clientId, inboundId, epoch, up, down });
          continue;
        }
        const name = nameOf(stream, clientId, inboundId);
        seen?.add(name);
        const known =
          found.get(name) ??
          state.get(stream)?.get(clientId)?.get(inboundId) ??
          (isOwn ? this.#leaving.get(clientId)?.get(inboundId) : undefined);
        const elsewhere = isOwn && known?.epoch !== epoch ? otherwise?.(clientId, inboundId) : undefined;
        const last = elsewhere?.epoch === epoch ? elsewhere : known;
        if (last?.epoch === epoch && last.up === up && last.down === down) continue;
        // A commit whose answer was lost has written a later reading, and these bytes with it.
        if (last && later.has(last.epoch)) continue;
        const isSameEpoch = last?.epoch === epoch;
        const fell = isSameEpoch && (up < last.up || down < last.down);
        const from = fell && neverFalls ? { up, down } : isSameEpoch && !fell ? last : NOTHING;
        const moved = { up: up - from.up, down: down - from.down };
        const bytes = moved.up + moved.down;
        if (bytes === 0 && last?.epoch !== epoch) continue;
        const counter = { stream, clientId, inboundId, epoch, up, down };
        found.set(name, counter);
        const share = bytes > most ? most / bytes : 1;
        if (share < 1) excessive.push({ ...counter, bytes });
        const sum = sums.get(`${clientId} ${inboundId}`) ?? { clientId, inboundId, up: 0, down: 0 };
        sum.up += Math.floor(moved.up * share);
        sum.down += Math.floor(moved.down * share);
        sums.set(`${clientId} ${inboundId}`, sum);
      }
      if (!seen) continue;
      const gone = { stream, epoch, up: 0, down: 0 };
      for (const [clientId, ofClient] of state.get(stream) ?? [])
        for (const [inboundId, stored] of ofClient) {
          if (slice.isOver) await slice.next();
          const name = nameOf(stream, clientId, inboundId);
          const last = found.get(name) ?? stored;
          if (!seen.has(name) && last.epoch === epoch && last.up + last.down > 0)
            found.set(name, { ...gone, clientId, inboundId });
        }
    }
    // Loaded again meanwhile, because it was wrong.
    if (this.memory.state !== state) return this.compare(readings, otherwise);
    const usage = [...sums.values()].filter(({ up, down }) => up + down > 0);
    return { counters: [...found.values()], usage, excessive };
  }

  async save(tx: Tx, counters: readonly StreamCounter[]): Promise<void> {
    const { rows, incoming, onConflict } = tx.sql;
    const set = ['epoch', 'up', 'down'].map((column) => `${column} = ${incoming(column)}`).join(', ');
    for (let from = 0; from < counters.length; from += BATCH_SIZE) {
      const some = counters.slice(from, from + BATCH_SIZE);
      await tx.run(
        `INSERT INTO traffic_streams (stream, client_id, inbound_id, epoch, up, down)
         SELECT j.stream, j.client_id, j.inbound_id, j.epoch, j.up, j.down FROM ${rows(COLUMNS)} AS j
         JOIN clients ON clients.id = j.client_id WHERE true ${onConflict('stream, client_id, inbound_id', set)}`,
        {
          rows: JSON.stringify(
            some.map(({ stream, clientId, inboundId, epoch, up, down }) => [
              stream,
              clientId,
              inboundId,
              epoch,
              up,
              down,
            ]),
          ),
        },
      );
    }
    if (counters.length > 0) tx.apply(this.memory, { read: counters });
  }

  /** Call it when the transaction of `save` has failed. */
  notSaved(readings: readonly SourceReading[]): void {
    this.#held.add(readings);
  }
  /** Call it when the transaction of `save` is committed. */
  saved(): void {
    this.#held.clear();
  }

  /** Call it in the transaction that deletes clients: the database deletes their rows with them. */
  deleted(tx: Tx, clientIds: readonly number[]): void {
    tx.apply(this.memory, { deleted: clientIds });
  }

  /** Clients that have been counted at least once. */
  *clientIds(): Iterable<number> {
    for (const ofStream of this.memory.state.values()) yield* ofStream.keys();
  }
}

/** Other epochs of the stream that follow in the list. */
function epochsAfter(readings: readonly SourceReading[], index: number): ReadonlySet<string> {
  const { stream, epoch } = readings[index] ?? {};
  const later = readings.slice(index + 1).filter((one) => one.stream === stream && one.epoch !== epoch);
  return new Set(later.map((one) => one.epoch));
}

function put(state: Stored, { stream, clientId, inboundId, epoch, up, down }: StreamCounter): void {
  let ofStream = state.get(stream);
  if (!ofStream) state.set(stream, (ofStream = new Map()));
  let ofClient = ofStream.get(clientId);
  if (!ofClient) ofStream.set(clientId, (ofClient = new Map()));
  ofClient.set(inboundId, { epoch, up, down });
}
