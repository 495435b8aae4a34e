// How far the counters of nodes are counted. The bytes of a poll and the counters that they came from are one transaction.
import { randomUUID } from 'node:crypto';
import type { Database, Projection, Tx } from '../../kernel/index.js';
import type { BaselineRow, OlderTables, StreamRow, TotalRow } from './tables.js';

export interface Bytes {
  readonly up: number;
  readonly down: number;
}
interface Stored {
  readonly streams: Map<number, StreamRow>;
  readonly baselines: Map<string, BaselineRow>;
  readonly totals: Map<string, TotalRow>;
}
type Change =
  | { readonly baselines: readonly BaselineRow[]; readonly totals: readonly TotalRow[] }
  | { readonly stream: StreamRow }
  | { readonly node: number }
  | { readonly clients: readonly number[] };

const AT_ONCE = 5_000;
/** polls */
const TOLD_AGAIN = 3;
const PLACE = { node_id: 'integer', client_id: 'integer' } as const;
const BYTES = { up: 'integer', down: 'integer' } as const;
const baselineKey = ({ nodeId, clientId }: Omit<BaselineRow, 'up' | 'down'>): string =>
  `${nodeId}.${clientId}`;
const totalKey = ({ nodeId, clientId, inboundId }: Omit<TotalRow, 'up' | 'down'>): string =>
  `${nodeId}.${clientId}.${inboundId}`;

export class Ledger {
  readonly #db: Database;
  readonly projection: Projection<Stored, Change>;
  /** Counted, and not stored yet: totals that were told must not fall where a write fails. */
  readonly #baselines = new Map<string, BaselineRow>();
  readonly #totals = new Map<string, TotalRow>();
  /** how often each total is told once more, although nothing has moved */
  readonly #toldAgain = new Map<string, number>();

  constructor({ db, tables }: { db: Database; tables: OlderTables }) {
    this.#db = db;
    this.projection = db.projection<Stored, Change>({
      load: async () => {
        const all = async <T>(from: { findAll(options: { raw: true }): Promise<unknown[]> }): Promise<T[]> =>
          (await from.findAll({ raw: true })) as T[];
        const [streams, baselines, totals] = [
          await all<StreamRow>(tables.streams),
          await all<BaselineRow>(tables.baselines),
          await all<TotalRow>(tables.totals),
        ];
        return {
          streams: new Map(streams.map((row) => [row.nodeId, row])),
          baselines: new Map(baselines.map((row) => [baselineKey(row), row])),
          totals: new Map(totals.map((row) => [totalKey(row), row])),
        };
      },
      apply: (state, change) => this.#apply(state, change),
    });
  }

  #apply(state: Stored, change: Change): void {
    if ('stream' in change) state.streams.set(change.stream.nodeId, change.stream);
    else if ('baselines' in change) {
      for (const row of change.baselines) {
        state.baselines.set(baselineKey(row), row);
        if (this.#baselines.get(baselineKey(row)) === row) this.#baselines.delete(baselineKey(row));
      }
      for (const row of change.totals) {
        state.totals.set(totalKey(row), row);
        if (this.#totals.get(totalKey(row)) === row) this.#totals.delete(totalKey(row));
      }
    } else {
      const isGone =
        'node' in change
          ? (row: BaselineRow) => row.nodeId === change.node
          : (
              (ids) => (row: BaselineRow) =>
                ids.has(row.clientId)
            )(new Set(change.clients));
      for (const map of [state.baselines, state.totals, this.#baselines, this.#totals])
        for (const [key, row] of map as Map<string, BaselineRow>) if (isGone(row)) map.delete(key);
      if ('node' in change) state.streams.delete(change.node);
    }
  }

  /** The epoch of the node's counters; another panel there begins another one, and nothing of it is counted yet. */
  async epoch(nodeId: number, guid: string): Promise<string> {
    const known = this.projection.state.streams.get(nodeId);
    if (known?.guid === guid) return known.epoch;
    const stream = { nodeId, guid, epoch: randomUUID() };
    await this.#db.write(async (tx) => {
      await this.forgetNode(tx, nodeId);
      await tx.run(
        'INSERT INTO older_nodes_streams (node_id, guid, epoch) VALUES (:nodeId, :guid, :epoch)',
        stream,
      );
      tx.apply(this.projection, { stream });
    });
    return stream.epoch;
  }

  /**
   * Takes the counters of a client as they are now. The first ones, and ones that are lower than the last, are only a
   * start: some of them may have been counted before. Returns the total through this inbound, or that they went down.
   */
  take(nodeId: number, clientId: number, inboundId: number, now: Bytes): Bytes | 'fell' | undefined {
    const place = { nodeId, clientId };
    const key = baselineKey(place);
    const last = this.#baselines.get(key) ?? this.projection.state.baselines.get(key);
    const isMore = last !== undefined && now.up >= last.up && now.down >= last.down;
    const moved = isMore ? { up: now.up - last.up, down: now.down - last.down } : { up: 0, down: 0 };
    if (last && isMore && moved.up + moved.down === 0) return this.#untold({ ...place, inboundId });
    this.#baselines.set(key, { ...place, ...now });
    if (!last) return undefined;
    if (!isMore) return 'fell';
    const at = { ...place, inboundId };
    const before = this.#totals.get(totalKey(at)) ?? this.projection.state.totals.get(totalKey(at));
    const sum = { up: (before?.up ?? 0) + moved.up, down: (before?.down ?? 0) + moved.down };
    // Counters that fall and rise again and again have no limit. A total that is lower is counted from zero.
    const isWhole = Number.isSafeInteger(sum.up) && Number.isSafeInteger(sum.down);
    const total = isWhole ? sum : moved;
    this.#totals.set(totalKey(at), { ...at, ...total });
    this.#toldAgain.set(totalKey(at), TOLD_AGAIN);
    return total;
  }

  /** A total that a poll could not store, or was too late for, is told again. */
  #untold(place: Omit<TotalRow, 'up' | 'down'>): Bytes | undefined {
    const key = totalKey(place);
    const left = this.#toldAgain.get(key) ?? 0;
    if (left > 1) this.#toldAgain.set(key, left - 1);
    else this.#toldAgain.delete(key);
    return this.#totals.get(key) ?? (left > 0 ? this.projection.state.totals.get(key) : undefined);
  }

  /** Stores new starts, which bring no bytes. Others wait for the transaction that counts them. */
  async saveStarts(): Promise<void> {
    const counting = new Set([...this.#totals.values()].map((row) => baselineKey(row)));
    const starts = [...this.#baselines].filter(([key]) => !counting.has(key)).map(([, row]) => row);
    if (starts.length > 0) await this.#db.write((tx) => this.#save(tx, starts, []));
  }

  /** Takes part in the transaction that counts the bytes. */
  async counted(tx: Tx): Promise<void> {
    if (this.#totals.size === 0 && this.#baselines.size === 0) return;
    await this.#save(tx, [...this.#baselines.values()], [...this.#totals.values()]);
  }

  async #save(tx: Tx, baselines: readonly BaselineRow[], totals: readonly TotalRow[]): Promise<void> {
    const { rows, onConflict, incoming } = tx.sql;
    const set = `up = ${incoming('up')}, down = ${incoming('down')}`;
    for (let from = 0; from < baselines.length; from += AT_ONCE)
      await tx.run(
        `INSERT INTO older_nodes_baselines (node_id, client_id, up, down)
         SELECT j.node_id, j.client_id, j.up, j.down FROM ${rows({ ...PLACE, ...BYTES })} AS j WHERE true
         ${onConflict('node_id, client_id', set)}`,
        {
          rows: JSON.stringify(
            baselines
              .slice(from, from + AT_ONCE)
              .map(({ nodeId, clientId, up, down }) => [nodeId, clientId, up, down]),
          ),
        },
      );
    for (let from = 0; from < totals.length; from += AT_ONCE)
      await tx.run(
        `INSERT INTO older_nodes_totals (node_id, client_id, inbound_id, up, down)
         SELECT j.node_id, j.client_id, j.inbound_id, j.up, j.down FROM ${rows({ ...PLACE, inbound_id: 'integer', ...BYTES })} AS j WHERE true
         ${onConflict('node_id, client_id, inbound_id', set)}`,
        {
          rows: JSON.stringify(
            totals
              .slice(from, from + AT_ONCE)
              .map(({ nodeId, clientId, inboundId, up, down }) => [nodeId, clientId, inboundId, up, down]),
          ),
        },
      );
    tx.apply(this.projection, { baselines, totals });
  }

  async forgetNode(tx: Tx, nodeId: number): Promise<void> {
    for (const table of ['streams', 'baselines', 'totals'])
      await tx.run(`DELETE FROM older_nodes_${table} WHERE node_id = :nodeId`, { nodeId });
    tx.apply(this.projection, { node: nodeId });
  }

  async clientsDeleted(tx: Tx, ids: readonly number[]): Promise<void> {
    if (this.projection.state.streams.size === 0) return;
    for (let from = 0; from < ids.length; from += AT_ONCE)
      for (const table of ['baselines', 'totals'])
        await tx.run(`DELETE FROM older_nodes_${table} WHERE client_id IN (:ids)`, {
          ids: ids.slice(from, from + AT_ONCE),
        });
    if (ids.length > 0) tx.apply(this.projection, { clients: ids });
  }
}
