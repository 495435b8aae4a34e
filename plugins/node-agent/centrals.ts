// The panels that manage this one, by their guid.
import type { Clock, Database, Projection, Tx } from '../../kernel/index.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import { errors } from './errors.js';
import { BUCKETS } from './record-digest.js';
import type { AgentTables, CentralRow } from './tables.js';

const MOST_CENTRALS = 16;
/** A call that changes nothing is noted this often. */
const SEEN_EVERY_MS = 3_600_000;
/** Rows that one write deletes at most, because other writes wait for it. */
const AT_ONCE = 5000;

type Change = { readonly put: CentralRow } | { readonly gone: number };

export class Centrals {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #identity: PanelIdentityApi;
  readonly projection: Projection<Map<string, CentralRow>, Change>;

  constructor({
    db,
    tables,
    clock,
    identity,
  }: { db: Database; tables: AgentTables; clock: Clock; identity: PanelIdentityApi }) {
    this.#db = db;
    this.#clock = clock;
    this.#identity = identity;
    this.projection = db.projection<Map<string, CentralRow>, Change>({
      load: async () => {
        const rows = await tables.centrals.findAll();
        return new Map(rows.map((row) => [row.get().guid, row.get()]));
      },
      apply: (state, change) => {
        if ('put' in change) state.set(change.put.guid, change.put);
        else for (const [guid, { id }] of state) if (id === change.gone) state.delete(guid);
      },
    });
  }

  /** Whether nobody manages this panel: then nothing is recorded. */
  get isEmpty(): boolean {
    return this.projection.state.size === 0;
  }
  list(): readonly CentralRow[] {
    return [...this.projection.state.values()];
  }
  guidOf(id: number): string {
    return this.list().find((central) => central.id === id)?.guid ?? '';
  }

  /** Rejects where this central has never changed anything here. */
  get(guid: string): CentralRow {
    const known = this.projection.state.get(guid);
    if (!known) throw errors.UNKNOWN_CENTRAL(undefined, { path: 'central' });
    return known;
  }

  /** A central that is not known yet becomes known. */
  async greet(guid: string): Promise<CentralRow> {
    if (guid === this.#identity.guid) throw errors.OWN_GUID(undefined, { path: 'central' });
    const seenAt = this.#clock.now();
    const known = this.projection.state.get(guid);
    if (known && known.seenAt > seenAt - SEEN_EVERY_MS) return known;
    return this.#db.write(async (tx) => {
      const [row] = await tx.query<CentralRow>(
        `SELECT id, guid, acked_epoch AS "ackedEpoch", acked_seq AS "ackedSeq" FROM node_agent_centrals WHERE guid = :guid`,
        { guid },
      );
      if (row)
        await tx.run('UPDATE node_agent_centrals SET seen_at = :seenAt WHERE guid = :guid', { guid, seenAt });
      const central = row ? { ...row, seenAt } : await this.#add(tx, guid, seenAt);
      tx.apply(this.projection, { put: central });
      return central;
    });
  }

  async #add(tx: Tx, guid: string, seenAt: number): Promise<CentralRow> {
    const [found] = await tx.query<{ count: number }>('SELECT count(*) AS count FROM node_agent_centrals');
    if (Number(found?.count) >= MOST_CENTRALS) throw errors.TOO_MANY_CENTRALS(undefined, { path: 'central' });
    await tx.run(
      "INSERT INTO node_agent_centrals (guid, seen_at, acked_epoch, acked_seq) VALUES (:guid, :seenAt, '', 0)",
      { guid, seenAt },
    );
    const [row] = await tx.query<{ id: number }>('SELECT id FROM node_agent_centrals WHERE guid = :guid', {
      guid,
    });
    return { id: Number(row?.id), guid, seenAt, ackedEpoch: '', ackedSeq: 0 };
  }

  /** Notes what it has taken. */
  async acknowledged(tx: Tx, central: CentralRow, ackedEpoch: string, ackedSeq: number): Promise<void> {
    await tx.run(
      'UPDATE node_agent_centrals SET acked_epoch = :ackedEpoch, acked_seq = :ackedSeq WHERE id = :id',
      { id: central.id, ackedEpoch, ackedSeq },
    );
    tx.apply(this.projection, { put: { ...central, ackedEpoch, ackedSeq } });
  }

  /** Forgets a central with its records and totals; its inbounds and clients stay, and nobody manages them. */
  async release(guid: string): Promise<void> {
    const { id } = this.get(guid);
    for (let bucket = 0; bucket < BUCKETS; bucket++)
      await this.#db.write((tx) =>
        tx.run('DELETE FROM node_agent_records WHERE central = :id AND bucket = :bucket', { id, bucket }),
      );
    while (await this.#deleteTotals(id));
    await this.#db.write(async (tx) => {
      // What came meanwhile goes too.
      await tx.run('DELETE FROM node_agent_records WHERE central = :id', { id });
      await tx.run('DELETE FROM node_agent_usage WHERE central = :id', { id });
      await tx.run("UPDATE node_agent_records SET contested_by = '' WHERE contested_by = :guid", { guid });
      await tx.run('DELETE FROM node_agent_centrals WHERE id = :id', { id });
      tx.apply(this.projection, { gone: id });
    });
  }

  /** Returns whether there may be more. */
  async #deleteTotals(id: number): Promise<boolean> {
    const [end] = await this.#db.query<{ epoch: number; seq: number }>(
      `SELECT epoch, seq FROM node_agent_usage WHERE central = :id ORDER BY epoch, seq LIMIT 1 OFFSET ${AT_ONCE}`,
      { id },
    );
    if (end)
      await this.#db.write((tx) =>
        tx.run(
          'DELETE FROM node_agent_usage WHERE central = :id AND (epoch < :epoch OR (epoch = :epoch AND seq <= :seq))',
          { id, ...end },
        ),
      );
    return end !== undefined;
  }
}
