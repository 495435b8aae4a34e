// The records of centrals in the database, and which of their digests are out of date.
import type { Database, Projection, Tx } from '../../kernel/index.js';
import { bucketOf } from './record-digest.js';
import type { RecordKind, RecordRow } from './tables.js';

const COLUMNS = {
  central: 'integer',
  kind: 'text',
  id: 'integer',
  version: 'integer',
  local_id: 'integer',
  is_gone: 'integer',
  refused: 'text',
  is_drifted: 'integer',
  contested_by: 'text',
  inbound_ids: 'text',
  waits_for: 'integer',
  started_from: 'integer',
  period: 'integer',
  wanted: 'text',
  bucket: 'integer',
  changed_at: 'integer',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');
const KEY = new Set(['central', 'kind', 'id']);
const SELECT = `SELECT central, kind, id, version, local_id AS "localId", is_gone AS "isGone", refused, is_drifted AS "isDrifted",
  contested_by AS "contestedBy", inbound_ids AS "inboundIds", waits_for AS "waitsFor", started_from AS "startedFrom",
  period, wanted, bucket, changed_at AS "changedAt" FROM node_agent_records`;
const MOST_REASON = 1000;
/** `waitsFor` of a record that is refused for another reason. */
export const NO_WAIT = -1;

type Reader = Pick<Database, 'query'>;
/** How often the records of each bucket changed. Only differences count, so it is compared with nothing. */
class Revisions {
  readonly isComparedApart = true;
  readonly #counts = new Map<string, number>();

  of(central: number, bucket: number): number {
    return this.#counts.get(`${central}.${bucket}`) ?? 0;
  }
  changed({ central, bucket }: Pick<RecordRow, 'central' | 'bucket'>): void {
    this.#counts.set(`${central}.${bucket}`, this.of(central, bucket) + 1);
  }
}

export const newRecord = (central: number, kind: RecordKind, id: number): RecordRow => ({
  central,
  kind,
  id,
  version: 0,
  localId: 0,
  isGone: false,
  refused: '',
  isDrifted: false,
  contestedBy: '',
  inboundIds: '',
  waitsFor: 0,
  startedFrom: 0,
  period: 0,
  wanted: '',
  bucket: bucketOf(id),
  changedAt: 0,
});

/** Columns as the database gives them. */
const read = (row: RecordRow): RecordRow => ({
  ...row,
  isGone: Boolean(row.isGone),
  isDrifted: Boolean(row.isDrifted),
});

export class Records {
  readonly #db: Database;
  /** Raised with the commit: digests of before are not used any more. */
  readonly revisions: Projection<Revisions, readonly Pick<RecordRow, 'central' | 'bucket'>[]>;

  constructor({ db }: { db: Database }) {
    this.#db = db;
    this.revisions = db.projection<Revisions, readonly Pick<RecordRow, 'central' | 'bucket'>[]>({
      load: async () => new Revisions(),
      apply: (state, changed) => {
        for (const record of changed) state.changed(record);
      },
    });
  }

  async find(
    central: number,
    kind: RecordKind,
    ids: readonly number[],
    db: Reader = this.#db,
  ): Promise<Map<number, RecordRow>> {
    if (ids.length === 0) return new Map();
    const rows = await db.query<RecordRow>(
      `${SELECT} WHERE central = :central AND kind = :kind AND id IN (:ids)`,
      { central, kind, ids },
    );
    return new Map(rows.map((row) => [row.id, read(row)]));
  }

  /** The ids that a central has for these inbounds or clients, by ours; others are left out. */
  async idsAt(central: number, kind: RecordKind, localIds: readonly number[]): Promise<Map<number, number>> {
    if (localIds.length === 0) return new Map();
    const rows = await this.#db.query<{ id: number; localId: number }>(
      `SELECT id, local_id AS "localId" FROM node_agent_records
       WHERE kind = :kind AND local_id IN (:localIds) AND central = :central AND is_gone = 0`,
      { central, kind, localIds },
    );
    return new Map(rows.map(({ id, localId }) => [Number(localId), Number(id)]));
  }

  /** The live record of any central that has this inbound or client. */
  async owner(kind: RecordKind, localId: number): Promise<RecordRow | undefined> {
    const [row] = await this.#db.query<RecordRow>(
      `${SELECT} WHERE kind = :kind AND local_id = :localId AND is_gone = 0`,
      { kind, localId },
    );
    return row && read(row);
  }

  /** The live records of any central, by local id: of all inbounds, or of these clients. */
  async owners(kind: RecordKind, localIds?: readonly number[]): Promise<Map<number, RecordRow>> {
    const which = localIds === undefined ? 'local_id > 0' : 'local_id IN (:localIds)';
    if (localIds?.length === 0) return new Map();
    const rows = await this.#db.query<RecordRow>(
      `${SELECT} WHERE kind = :kind AND is_gone = 0 AND ${which}`,
      { kind, localIds: localIds ?? [] },
    );
    return new Map(rows.map((row) => [Number(row.localId), read(row)]));
  }

  /** Inbounds of a central that are here, by its ids. */
  async inbounds(central: number): Promise<Map<number, number>> {
    const rows = await this.#db.query<{ id: number; localId: number }>(
      `SELECT id, local_id AS "localId" FROM node_agent_records WHERE central = :central AND kind = 'inbound' AND is_gone = 0 AND local_id > 0`,
      { central },
    );
    return new Map(rows.map(({ id, localId }) => [Number(id), Number(localId)]));
  }

  /** Refused records of a kind, by id. `wantedIn`: only those that wait, and are wanted in this inbound; without it those that wait for none. */
  async refused(
    central: number,
    kind: RecordKind,
    {
      wantedIn,
      after = 0,
      limit,
    }: { readonly wantedIn?: number; readonly after?: number; readonly limit: number },
  ): Promise<RecordRow[]> {
    const which = wantedIn === undefined ? 'waits_for < 0' : 'waits_for > 0 AND inbound_ids LIKE :part';
    const rows = await this.#db.query<RecordRow>(
      // Not by the primary key: that would look at all records.
      `${SELECT} WHERE central = :central AND kind = :kind AND ${which} AND is_gone = 0 AND id + 0 > :after ORDER BY id + 0 LIMIT :limit`,
      { central, kind, after, limit, part: `%,${wantedIn ?? 0},%` },
    );
    return rows.map(read);
  }

  async count(central: number): Promise<number> {
    const [found] = await this.#db.query<{ count: number }>(
      'SELECT count(*) AS count FROM node_agent_records WHERE central = :central',
      { central },
    );
    return Number(found?.count ?? 0);
  }

  /** Live records of a bucket: of 256, so some hundreds of very many. */
  async ofBucket(central: number, bucket: number): Promise<RecordRow[]> {
    const rows = await this.#db.query<RecordRow>(
      `${SELECT} WHERE central = :central AND bucket = :bucket AND is_gone = 0`,
      { central, bucket },
    );
    return rows.map(read);
  }

  /** Live records of a kind, by id. */
  async page(central: number, kind: RecordKind, after: number, limit: number): Promise<RecordRow[]> {
    const rows = await this.#db.query<RecordRow>(
      `${SELECT} WHERE central = :central AND kind = :kind AND id > :after AND is_gone = 0 ORDER BY id LIMIT :limit`,
      { central, kind, after, limit },
    );
    return rows.map(read);
  }

  async save(tx: Tx, rows: readonly RecordRow[]): Promise<void> {
    if (rows.length === 0) return;
    const { rows: given, onConflict, incoming } = tx.sql;
    const set = Object.keys(COLUMNS)
      .filter((name) => !KEY.has(name))
      .map((name) => `${name} = ${incoming(name)}`);
    await tx.run(
      `INSERT INTO node_agent_records (${NAMES}) SELECT ${NAMES} FROM ${given(COLUMNS)} AS j WHERE true ${onConflict('central, kind, id', set.join(', '))}`,
      { rows: JSON.stringify(rows.map(stored)) },
    );
    tx.apply(this.revisions, rows);
  }

  /** Changes that others made to what centrals manage. */
  async drifted(
    tx: Tx,
    kind: RecordKind,
    localIds: readonly number[],
    set = 'is_drifted = 1',
  ): Promise<void> {
    const where = 'kind = :kind AND local_id IN (:localIds) AND is_gone = 0';
    const found = await tx.query<Pick<RecordRow, 'central' | 'bucket'>>(
      `SELECT DISTINCT central, bucket FROM node_agent_records WHERE ${where}`,
      { kind, localIds },
    );
    if (found.length === 0) return;
    await tx.run(`UPDATE node_agent_records SET ${set} WHERE ${where}`, { kind, localIds });
    tx.apply(this.revisions, found);
  }

  /** Notes that another central claims a record. */
  async contest(tx: Tx, { central, kind, id, bucket }: RecordRow, guid: string): Promise<void> {
    await tx.run(
      'UPDATE node_agent_records SET contested_by = :guid WHERE central = :central AND kind = :kind AND id = :id',
      { central, kind, id, guid },
    );
    tx.apply(this.revisions, [{ central, bucket }]);
  }

  /** Forgets that this central claims records of others; what it still claims is noted again when it is tried again. */
  async uncontest(tx: Tx, kind: RecordKind, guid: string): Promise<void> {
    const given = { kind, guid };
    const where = 'kind = :kind AND contested_by = :guid';
    const found = await tx.query<Pick<RecordRow, 'central' | 'bucket'>>(
      `SELECT DISTINCT central, bucket FROM node_agent_records WHERE ${where}`,
      given,
    );
    if (found.length > 0)
      await tx.run(`UPDATE node_agent_records SET contested_by = '' WHERE ${where}`, given);
    tx.apply(this.revisions, found);
  }

  async idsOf(tx: Tx, kind: RecordKind, localId: number): Promise<Pick<RecordRow, 'central' | 'id'>[]> {
    return tx.query<Pick<RecordRow, 'central' | 'id'>>(
      'SELECT central, id FROM node_agent_records WHERE kind = :kind AND local_id = :localId AND is_gone = 0',
      { kind, localId },
    );
  }

  /** The clients that a central wants in this inbound of its. */
  async driftedIn(tx: Tx, central: number, inboundId: number): Promise<void> {
    const where = "central = :central AND kind = 'client' AND is_gone = 0 AND inbound_ids LIKE :part";
    const given = { central, part: `%,${inboundId},%` };
    const found = await tx.query<Pick<RecordRow, 'central' | 'bucket'>>(
      `SELECT DISTINCT central, bucket FROM node_agent_records WHERE ${where}`,
      given,
    );
    await tx.run(`UPDATE node_agent_records SET is_drifted = 1 WHERE ${where}`, given);
    tx.apply(this.revisions, found);
  }
}

const stored = (row: RecordRow): unknown[] => [
  row.central,
  row.kind,
  row.id,
  row.version,
  row.localId,
  Number(row.isGone),
  row.refused.slice(0, MOST_REASON),
  Number(row.isDrifted),
  row.contestedBy,
  row.inboundIds,
  row.waitsFor,
  row.startedFrom,
  row.period,
  row.wanted,
  row.bucket,
  row.changedAt,
];
