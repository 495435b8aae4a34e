// What each node should have: rows that change in the transaction of what they stand for, so neither a crash nor a
// rollback separates the two.
import type { Clock, Database, Tx } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { AdoptionStore } from './adoption/adoption-store.js';
import { desiredStateChanged } from './contract.js';
import { printable } from './replies.js';
import type { RecordKind, RecordRow } from './tables.js';

/** A record of a node that changed. */
export interface Mark {
  readonly nodeId: number;
  readonly kind: RecordKind;
  readonly id: number;
  readonly isGone: boolean;
  /** the usage of the client starts again at zero */
  readonly isNewPeriod?: boolean;
  /** with `isGone`: it stays on the node, without a central */
  readonly isReleased?: boolean;
}
/** What a node said of a version. */
export interface Told {
  readonly kind: RecordKind;
  readonly id: number;
  readonly version: number;
  /** blank when it is in force */
  readonly refused: string;
  /** the version that the node has, where it is newer than this one */
  readonly newest?: number | undefined;
}
/** Versions that a node has, where ours must be newer. */
export type Seen = Omit<Told, 'refused' | 'newest'>;

const AT_ONCE = 2_500;
const LONGEST_REASON = 1_000;
const COLUMNS =
  'node_id AS "nodeId", kind, id, version, is_gone AS "isGone", period, is_pending AS "isPending", refused, is_released AS "isReleased"';

const read = (row: RecordRow): RecordRow => ({
  ...row,
  nodeId: Number(row.nodeId),
  id: Number(row.id),
  version: Number(row.version),
  period: Number(row.period),
  isGone: Boolean(row.isGone),
  isPending: Boolean(row.isPending),
  isReleased: Boolean(row.isReleased),
});

export class DesiredRecords {
  readonly #db: Database;
  readonly #clock: Clock;
  /** Nodes for which something waits, perhaps, with the number of their marks: the rows are what counts. */
  readonly #dirty = new Map<number, number>();
  /** Unix ms since when something waits, by node */
  readonly #since = new Map<number, number>();

  readonly #adoptions: Pick<AdoptionStore, 'held' | 'forgetNode'>;
  /** Whether there is still such an inbound or client here: its versions go on when it comes back to the node. */
  readonly #isHere: (kind: RecordKind, id: number) => boolean;

  constructor({
    db,
    clock,
    adoptions,
    inbounds,
    clients,
  }: {
    db: Database;
    clock: Clock;
    adoptions: AdoptionStore;
    inbounds: Pick<InboundsApi, 'get'>;
    clients: Pick<ClientsApi, 'byId'>;
  }) {
    this.#adoptions = adoptions;
    this.#isHere = (kind, id) => (kind === 'inbound' ? inbounds.get(id) : clients.byId(id)) !== undefined;
    this.#db = db;
    this.#clock = clock;
  }

  /** Each record gets a newer version, and waits to be sent. Versions follow the clock: after a backup of this panel, which does not know what was sent since, none is given twice. */
  async mark(tx: Tx, marks: readonly Mark[]): Promise<void> {
    if (marks.length === 0) return;
    const { rows, onConflict, incoming, greatest } = tx.sql;
    const now = Math.max(1, Math.floor(this.#clock.now()));
    const columns = {
      node_id: 'integer',
      kind: 'text',
      id: 'integer',
      is_gone: 'integer',
      period: 'integer',
      is_released: 'integer',
    } as const;
    for (let from = 0; from < marks.length; from += AT_ONCE)
      await tx.run(
        `INSERT INTO node_sync_records (node_id, kind, id, version, is_gone, period, is_pending, refused, is_released)
         SELECT j.node_id, j.kind, j.id, :now, j.is_gone, j.period, 1, '', j.is_released FROM ${rows(columns)} AS j WHERE true
         ${onConflict(
           'node_id, kind, id',
           `version = ${greatest}(node_sync_records.version + 1, ${incoming('version')}), is_gone = ${incoming('is_gone')}, is_released = ${incoming('is_released')}, period = node_sync_records.period + ${incoming('period')}, is_pending = 1`,
         )}`,
        {
          now,
          rows: JSON.stringify(
            marks
              .slice(from, from + AT_ONCE)
              .map(({ nodeId, kind, id, isGone, isNewPeriod = false, isReleased = false }) => [
                nodeId,
                kind,
                id,
                Number(isGone),
                Number(isNewPeriod),
                Number(isReleased),
              ]),
          ),
        },
      );
    const nodeIds = [...new Set(marks.map(({ nodeId }) => nodeId))];
    for (const id of nodeIds) {
      this.#dirty.set(id, (this.#dirty.get(id) ?? 0) + 1);
      if (!this.#since.has(id)) this.#since.set(id, this.#clock.now());
    }
    tx.emit(desiredStateChanged, { nodeIds });
  }

  /** Records that wait to be sent, in the order in which a node can take them: deleted ones, inbounds, clients. */
  async pending(nodeId: number, limit: number): Promise<RecordRow[]> {
    const marks = this.#dirty.get(nodeId) ?? 0;
    const rows = await this.#db.query<RecordRow>(
      `SELECT ${COLUMNS} FROM node_sync_records WHERE node_id = :nodeId AND is_pending = 1
       AND NOT (kind = 'inbound' AND id IN (:held)) ORDER BY is_gone DESC, kind DESC, id DESC LIMIT :limit`,
      // 0 is no id: an empty list is no SQL.
      { nodeId, limit, held: [0, ...this.#adoptions.held] },
    );
    if (rows.length > 0) {
      this.#dirty.set(nodeId, Math.max(marks, this.#dirty.get(nodeId) ?? 1));
      if (!this.#since.has(nodeId)) this.#since.set(nodeId, this.#clock.now());
    } else if ((this.#dirty.get(nodeId) ?? 0) === marks) {
      // What was marked meanwhile may not be committed yet.
      this.#dirty.delete(nodeId);
      this.#since.delete(nodeId);
    }
    return rows.map(read);
  }

  /** Nodes for which something waits, whichever panel has marked it. */
  async waitingNodes(): Promise<readonly number[]> {
    const rows = await this.#db.query<{ nodeId: number }>(
      'SELECT DISTINCT node_id AS "nodeId" FROM node_sync_records WHERE is_pending = 1',
    );
    return rows.map(({ nodeId }) => Number(nodeId));
  }

  /** Another panel of the database sends what waits. */
  leave(): void {
    this.#dirty.clear();
    this.#since.clear();
  }

  /** Nodes for which something may wait. */
  get dirty(): readonly number[] {
    return [...this.#dirty.keys()];
  }

  /** Whether something waits for the node, and since when; from memory. */
  waiting(nodeId: number): { configDirty: boolean; configDirtyAt: number } {
    const since = this.#since.get(nodeId) ?? 0;
    return { configDirty: since > 0, configDirtyAt: since };
  }

  /** How many wait, and how many the node refuses, by node. */
  async counts(): Promise<Map<number, { pending: number; refused: number }>> {
    const rows = await this.#db.query<{ nodeId: number; pending: number; refused: number }>(
      `SELECT node_id AS "nodeId", SUM(is_pending) AS pending, SUM(CASE WHEN refused = '' THEN 0 ELSE 1 END) AS refused
       FROM node_sync_records GROUP BY node_id`,
    );
    return new Map(
      rows.map((row) => [Number(row.nodeId), { pending: Number(row.pending), refused: Number(row.refused) }]),
    );
  }

  /** Records that the node does not have in force, with its words. */
  async refused(nodeId: number, limit: number): Promise<RecordRow[]> {
    const rows = await this.#db.query<RecordRow>(
      `SELECT ${COLUMNS} FROM node_sync_records WHERE node_id = :nodeId AND refused <> '' ORDER BY kind DESC, id LIMIT :limit`,
      { nodeId, limit },
    );
    return rows.map(read);
  }

  /** Stores the answer of a node. A record that has changed since stays pending. Costs what is told, not what there is. */
  async told(nodeId: number, told: readonly Told[]): Promise<void> {
    const columns = { kind: 'text', id: 'integer', version: 'integer', refused: 'text' } as const;
    for (let from = 0; from < told.length; from += AT_ONCE) {
      const some = told.slice(from, from + AT_ONCE);
      const rows = JSON.stringify(
        some.map(({ kind, id, version, refused }) => [kind, id, version, printable(refused, LONGEST_REASON)]),
      );
      await this.#db.write(async (tx) => {
        const { onConflict, incoming, dialect } = tx.sql;
        // From what is told to the records: the other way round would compare all records with all that is told.
        const join = dialect === 'sqlite' ? 'CROSS JOIN' : 'STRAIGHT_JOIN';
        await tx.run(
          `INSERT INTO node_sync_records (node_id, kind, id, version, is_gone, is_released, period, is_pending, refused)
           SELECT r.node_id, r.kind, r.id, r.version, r.is_gone, r.is_released, r.period, 0, j.refused FROM ${tx.sql.rows(columns)} AS j
           ${join} node_sync_records r ON r.node_id = :nodeId AND r.kind = j.kind AND r.id = j.id AND r.version = j.version
           WHERE true ${onConflict('node_id, kind, id', `is_pending = ${incoming('is_pending')}, refused = ${incoming('refused')}`)}`,
          { nodeId, rows },
        );
        for (const kind of ['inbound', 'client'] as const) {
          const ids = some.flatMap((one) => (one.kind === kind && one.refused === '' ? [one.id] : []));
          const gone = ids.filter((id) => !this.#isHere(kind, id));
          if (gone.length > 0)
            await tx.run(
              `DELETE FROM node_sync_records WHERE node_id = :nodeId AND kind = :kind AND id IN (:gone) AND is_gone = 1 AND is_pending = 0 AND refused = ''`,
              { nodeId, kind, gone },
            );
          if (kind === 'client' && ids.length > 0)
            await tx.run('DELETE FROM node_sync_taken WHERE node_id = :nodeId AND client_id IN (:ids)', {
              nodeId,
              ids,
            });
        }
      });
    }
  }

  /** Sends these again, with a version that is newer than what the node has. Those that are unknown here are deleted there. */
  async overtake(nodeId: number, seen: readonly Seen[]): Promise<void> {
    const columns = { kind: 'text', id: 'integer', version: 'integer' } as const;
    for (let from = 0; from < seen.length; from += AT_ONCE)
      await this.#db.write(async (tx) => {
        const { rows, onConflict, incoming, greatest } = tx.sql;
        await tx.run(
          `INSERT INTO node_sync_records (node_id, kind, id, version, is_gone, period, is_pending, refused, is_released)
           SELECT :nodeId, j.kind, j.id, ${greatest}(j.version + 1, :now), 1, 0, 1, '', 0 FROM ${rows(columns)} AS j WHERE true
           ${onConflict(
             'node_id, kind, id',
             `version = ${greatest}(node_sync_records.version + 1, ${incoming('version')}), is_pending = 1`,
           )}`,
          {
            nodeId,
            now: Math.max(1, Math.floor(this.#clock.now())),
            rows: JSON.stringify(
              seen.slice(from, from + AT_ONCE).map(({ kind, id, version }) => [kind, id, version]),
            ),
          },
        );
      });
  }

  /** The periods of these clients at the node; those that it does not have are left out. */
  async periods(nodeId: number, clientIds: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.#db.query<{ id: number; period: number }>(
      "SELECT id, period FROM node_sync_records WHERE node_id = :nodeId AND kind = 'client' AND is_gone = 0 AND id IN (:ids)",
      { nodeId, ids: [...clientIds] },
    );
    return new Map(rows.map(({ id, period }) => [Number(id), Number(period)]));
  }

  /** Whether the node has confirmed anything. */
  async hasSent(nodeId: number): Promise<boolean> {
    const found = await this.#db.query(
      'SELECT 1 AS one FROM node_sync_records WHERE node_id = :nodeId AND is_pending = 0 LIMIT 1',
      {
        nodeId,
      },
    );
    return found.length > 0;
  }

  /** Deletions that the panel of a node did not have when the record of the node was deleted. */
  async left(nodeId: number, limit: number): Promise<RecordRow[]> {
    const rows = await this.#db.query<RecordRow>(
      `SELECT ${COLUMNS} FROM node_sync_records WHERE node_id = :nodeId AND is_gone = 1 AND is_released = 0 ORDER BY kind DESC, id LIMIT :limit`,
      { nodeId, limit },
    );
    return rows.map(read);
  }
  /** They are there. */
  async leftAreSent(nodeId: number, rows: readonly RecordRow[]): Promise<void> {
    await this.#db.write(async (tx) => {
      for (const kind of ['inbound', 'client'] as const) {
        const ids = rows.flatMap((row) => (row.kind === kind ? [row.id] : []));
        if (ids.length > 0)
          await tx.run(
            'DELETE FROM node_sync_records WHERE node_id = :nodeId AND kind = :kind AND id IN (:ids)',
            { nodeId, kind, ids },
          );
      }
    });
  }

  /** All records of a node, a page at a time. */
  async page(nodeId: number, kind: RecordKind, after: number, limit: number): Promise<RecordRow[]> {
    const rows = await this.#db.query<RecordRow>(
      `SELECT ${COLUMNS} FROM node_sync_records WHERE node_id = :nodeId AND kind = :kind AND id > :after ORDER BY id LIMIT :limit`,
      { nodeId, kind, after, limit },
    );
    return rows.map(read);
  }

  /** The node has nothing: all is sent again, and what is deleted is forgotten. */
  async sendAll(nodeId: number): Promise<void> {
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM node_sync_records WHERE node_id = :nodeId AND is_gone = 1', { nodeId });
      await tx.run("UPDATE node_sync_records SET is_pending = 1, refused = '' WHERE node_id = :nodeId", {
        nodeId,
      });
    });
  }

  /** Deletions that a panel does not have yet stay: it may come back as another node. */
  async forget(tx: Tx, nodeId: number): Promise<void> {
    await tx.run(
      `DELETE FROM node_sync_records WHERE node_id = :nodeId AND (is_gone = 0 OR is_pending = 0 OR is_released = 1
       OR NOT EXISTS (SELECT 1 FROM node_sync_met WHERE node_id = :nodeId))`,
      { nodeId },
    );
    await this.#adoptions.forgetNode(tx, nodeId);
    await tx.run('DELETE FROM node_sync_positions WHERE node_id = :nodeId', { nodeId });
  }
}
