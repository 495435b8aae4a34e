// Rows of adoptions. Adopted inbounds are in memory: each record that is sent asks for them.
import type { Database, Projection, Tx } from '../../../kernel/index.js';
import type { InboundChange } from '../../inbounds/contract.js';
import { printable } from '../replies.js';
import type { SyncTables } from '../tables.js';
import type { AdoptedRow, LeftRow } from './tables.js';

type Memory = Map<number, AdoptedRow>;
interface Change {
  readonly put?: AdoptedRow;
  readonly gone?: readonly number[];
}
export interface Taken {
  readonly clientId: number;
  readonly up: number;
  readonly down: number;
}
type LeftKind = 'inbound' | 'client';
const LONGEST_REASON = 1_000;
const LONGEST_NAME = 255;

export class AdoptionStore {
  readonly #db: Database;
  readonly #tables: SyncTables;
  readonly projection: Projection<Memory, Change>;

  constructor({ db, tables }: { db: Database; tables: SyncTables }) {
    this.#db = db;
    this.#tables = tables;
    this.projection = db.projection<Memory, Change>({
      load: async () =>
        new Map((await tables.adopted.findAll()).map((row) => [row.get().inboundId, row.get()])),
      apply: (memory, { put, gone = [] }) => {
        for (const id of gone) memory.delete(id);
        if (put) memory.set(put.inboundId, put);
      },
    });
  }

  of(inboundId: number): AdoptedRow | undefined {
    return this.projection.state.get(inboundId);
  }
  ofNode(nodeId: number): readonly AdoptedRow[] {
    return [...this.projection.state.values()].filter((row) => row.nodeId === nodeId);
  }
  /** Inbounds that the node is not told of yet: clients of theirs may be missing here. */
  get held(): readonly number[] {
    return [...this.projection.state.values()].flatMap(({ isDone, inboundId }) =>
      isDone ? [] : [inboundId],
    );
  }
  /** Machines below the node, with the address at which it knows them. */
  below(nodeId: number, guid: string): AdoptedRow | undefined {
    return this.ofNode(nodeId).find(({ originGuid }) => originGuid === guid);
  }

  async add(tx: Tx, row: AdoptedRow): Promise<void> {
    await this.#tables.adopted.create({ ...row }, { transaction: tx.t });
    tx.apply(this.projection, { put: row });
  }
  change(inboundId: number, fields: Partial<AdoptedRow>): Promise<void> {
    return this.#db.write(async (tx) => {
      const row = this.of(inboundId);
      if (!row) return;
      await this.#tables.adopted.update(fields, { where: { inboundId }, transaction: tx.t });
      tx.apply(this.projection, { put: { ...row, ...fields } });
    });
  }
  /** Deleted inbounds, and those that moved to another machine, are no longer what the node had. */
  async inboundsSaved(changes: readonly InboundChange[], tx: Tx): Promise<void> {
    const gone = changes.flatMap(({ before, after }) => {
      const row = before && this.of(before.id);
      return row && row.nodeId !== (after?.nodeId ?? 0) ? [row.inboundId] : [];
    });
    if (gone.length === 0) return;
    await this.#tables.adopted.destroy({ where: { inboundId: gone }, transaction: tx.t });
    tx.apply(this.projection, { gone });
  }

  async leave(
    nodeId: number,
    kind: LeftKind,
    rows: readonly Omit<LeftRow, 'nodeId' | 'kind'>[],
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.#db.write(async (tx) => {
      const { rows: from, onConflict, incoming } = tx.sql;
      await tx.run(
        `INSERT INTO node_sync_left (node_id, kind, remote_id, name, reason)
         SELECT :nodeId, :kind, j.remote_id, j.name, j.reason FROM ${from({ remote_id: 'integer', name: 'text', reason: 'text' })} AS j WHERE true
         ${onConflict('node_id, kind, remote_id', `name = ${incoming('name')}, reason = ${incoming('reason')}`)}`,
        {
          nodeId,
          kind,
          rows: JSON.stringify(
            rows.map(({ remoteId, name, reason }) => [
              remoteId,
              printable(name, LONGEST_NAME),
              printable(reason, LONGEST_REASON),
            ]),
          ),
        },
      );
    });
  }
  /** They are looked at again. */
  async forgetLeft(nodeId: number, kind: LeftKind, remoteIds?: readonly number[]): Promise<void> {
    const where = { nodeId, kind, ...(remoteIds && { remoteId: [...remoteIds] }) };
    if (remoteIds?.length !== 0)
      await this.#db.write((tx) => this.#tables.left.destroy({ where, transaction: tx.t }));
  }
  async left(nodeId: number, limit: number): Promise<LeftRow[]> {
    const rows = await this.#tables.left.findAll({
      where: { nodeId },
      order: ['kind', 'remoteId'],
      limit,
    });
    return rows.map((row) => row.get());
  }

  async take(tx: Tx, nodeId: number, taken: readonly Taken[]): Promise<void> {
    if (taken.length === 0) return;
    const { rows, onConflict, incoming } = tx.sql;
    const columns = { client_id: 'integer', up: 'integer', down: 'integer' } as const;
    await tx.run(
      `INSERT INTO node_sync_taken (node_id, client_id, up, down)
       SELECT :nodeId, j.client_id, j.up, j.down FROM ${rows(columns)} AS j WHERE true
       ${onConflict('node_id, client_id', `up = ${incoming('up')}, down = ${incoming('down')}`)}`,
      { nodeId, rows: JSON.stringify(taken.map(({ clientId, up, down }) => [clientId, up, down])) },
    );
  }
  /** Of these clients, what was taken and is not confirmed. */
  async taken(nodeId: number, clientIds: readonly number[]): Promise<Map<number, Taken>> {
    if (clientIds.length === 0) return new Map();
    const rows = await this.#db.query<Taken>(
      'SELECT client_id AS "clientId", up, down FROM node_sync_taken WHERE node_id = :nodeId AND client_id IN (:ids)',
      { nodeId, ids: [...clientIds] },
    );
    return new Map(
      rows.map(({ clientId, up, down }) => [
        Number(clientId),
        { clientId: Number(clientId), up: Number(up), down: Number(down) },
      ]),
    );
  }

  /** Ids of other nodes under which the panel with this guid was known. */
  async metAs(nodeId: number, guid: string): Promise<number[]> {
    const rows = await this.#tables.met.findAll({ where: { guid } });
    return rows.map((row) => row.get().nodeId).filter((id) => id !== nodeId);
  }
  async meet(tx: Tx, nodeId: number, guid: string): Promise<void> {
    await this.#tables.met.destroy({ where: { nodeId }, transaction: tx.t });
    await this.#tables.met.create({ nodeId, guid }, { transaction: tx.t });
  }
  /** Of the panel that was met as this node; undefined before. */
  async metGuid(nodeId: number): Promise<string | undefined> {
    return (await this.#tables.met.findOne({ where: { nodeId } }))?.get().guid;
  }

  async forgetNode(tx: Tx, nodeId: number): Promise<void> {
    // That it was met stays: its panel may come back as another node, with what its clients used.
    for (const table of ['node_sync_left', 'node_sync_taken'])
      await tx.run(`DELETE FROM ${table} WHERE node_id = :nodeId`, { nodeId });
  }
}
