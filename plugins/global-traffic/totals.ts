// What other panels counted for our clients: stored by panel and client, shown where it is fresh and more than our own.
import { type Clock, type Database, type Projection, TimeSlice, type Tx } from '../../kernel/index.js';
import type { ClientChange, ClientsApi, UsageSource } from '../clients/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import { errors } from './errors.js';
import type { GlobalTrafficTables, TotalRow } from './tables.js';

/** Older rows are not shown any more, and deleted. */
const FRESH_MS = 24 * 3_600_000;
/** An unchanged row is written again when it is this old: other panels push every half minute. */
const WRITTEN_EVERY_MS = 3_600_000;
const MOST_MASTERS = 16;
const AT_ONCE = 5_000;

export interface PushedTraffic {
  readonly email: string;
  readonly up: number;
  readonly down: number;
}
/** by client, then by guid of the panel */
type Totals = Map<number, Map<string, TotalRow>>;
interface Change {
  readonly written?: readonly TotalRow[];
  readonly cleared?: readonly number[];
  /** rows that were written before this moment are deleted */
  readonly stale?: number;
}

export class GlobalTotals implements UsageSource {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #identity: PanelIdentityApi;
  readonly projection: Projection<Totals, Change>;

  constructor({
    db,
    tables: { totals },
    clock,
    clients,
    identity,
  }: {
    db: Database;
    tables: GlobalTrafficTables;
    clock: Clock;
    clients: ClientsApi;
    identity: PanelIdentityApi;
  }) {
    this.#db = db;
    this.#clock = clock;
    this.#clients = clients;
    this.#identity = identity;
    this.projection = db.projection<Totals, Change>({
      load: async () => {
        const state: Totals = new Map();
        for (const row of (await totals.findAll({ raw: true })) as unknown as TotalRow[]) put(state, row);
        return state;
      },
      apply: (state, { written = [], cleared = [], stale = 0 }) => {
        for (const id of cleared) state.delete(id);
        for (const row of written) put(state, row);
        if (stale > 0) forgetBefore(state, stale);
      },
    });
  }

  usageOf(clientId: number): { up: number; down: number } | undefined {
    const rows = this.projection.state.get(clientId);
    if (!rows) return undefined;
    const since = this.#clock.now() - FRESH_MS;
    let usage: { up: number; down: number } | undefined;
    for (const { up, down, updatedAt } of rows.values()) {
      if (updatedAt <= since) continue;
      usage = { up: Math.max(up, usage?.up ?? 0), down: Math.max(down, usage?.down ?? 0) };
    }
    return usage;
  }

  /** Overwrites what this panel pushed before; a lower number is a reset there. Unknown emails are skipped. Returns the number of clients. */
  async push(masterGuid: string, traffics: readonly PushedTraffic[]): Promise<number> {
    if (masterGuid === '' || masterGuid === this.#identity.guid) return 0;
    const updatedAt = this.#clock.now();
    const rows = new Map<number, TotalRow>();
    const slice = new TimeSlice();
    for (const { email, up, down } of traffics) {
      if (slice.isOver) await slice.next();
      const clientId = this.#clients.byEmail(email)?.id;
      if (clientId !== undefined) rows.set(clientId, { clientId, masterGuid, up, down, updatedAt });
    }
    const changed = [...rows.values()].filter((row) => this.#isChange(row));
    for (let at = 0; at < changed.length; at += AT_ONCE)
      await this.#db.write((tx) => this.#write(tx, masterGuid, changed.slice(at, at + AT_ONCE)));
    return rows.size;
  }

  #isChange({ clientId, masterGuid, up, down, updatedAt }: TotalRow): boolean {
    const known = this.projection.state.get(clientId)?.get(masterGuid);
    return (
      !known || known.up !== up || known.down !== down || known.updatedAt <= updatedAt - WRITTEN_EVERY_MS
    );
  }

  async #write(tx: Tx, masterGuid: string, rows: readonly TotalRow[]): Promise<void> {
    await this.#checkMasters(tx, masterGuid);
    const { rows: table, onConflict, incoming } = tx.sql;
    const columns = { client_id: 'integer', up: 'integer', down: 'integer', updated_at: 'integer' } as const;
    const set = ['up', 'down', 'updated_at'].map((name) => `${name} = ${incoming(name)}`).join(', ');
    await tx.run(
      `INSERT INTO global_traffic (client_id, master_guid, up, down, updated_at)
       SELECT j.client_id, :masterGuid, j.up, j.down, j.updated_at FROM ${table(columns)} AS j JOIN clients ON clients.id = j.client_id WHERE true
       ${onConflict('client_id, master_guid', set)}`,
      {
        masterGuid,
        rows: JSON.stringify(
          rows.map(({ clientId, up, down, updatedAt }) => [clientId, up, down, updatedAt]),
        ),
      },
    );
    // Asked here: a client may have been deleted meanwhile, and memory may lack the write before this one.
    const there = await tx.query<{ id: number }>('SELECT id FROM clients WHERE id IN (:ids)', {
      ids: rows.map(({ clientId }) => clientId),
    });
    const ids = new Set(there.map(({ id }) => id));
    tx.apply(this.projection, { written: rows.filter(({ clientId }) => ids.has(clientId)) });
  }

  async #checkMasters(tx: Tx, masterGuid: string): Promise<void> {
    const known = await tx.query<{ guid: string }>(
      `SELECT DISTINCT master_guid AS guid FROM global_traffic LIMIT ${MOST_MASTERS + 1}`,
    );
    if (known.length >= MOST_MASTERS && !known.some(({ guid }) => guid === masterGuid))
      throw errors.TOO_MANY_MASTERS();
  }

  /** Takes part in writes of clients: what other panels counted before a reset is over. They push what they count from then on. */
  async clientsSaved(changes: readonly ClientChange[], tx: Tx): Promise<void> {
    const known = this.projection.state;
    const cleared = changes.flatMap(({ kind, before, after, setsUsage = false }) => {
      if (!before || !known.has(before.id)) return [];
      const isReset = after?.up === 0 && after.down === 0 && (setsUsage || before.up + before.down > 0);
      return kind === 'deleted' || isReset ? [before.id] : [];
    });
    if (cleared.length === 0) return;
    for (let at = 0; at < cleared.length; at += AT_ONCE)
      await tx.run('DELETE FROM global_traffic WHERE client_id IN (:ids)', {
        ids: cleared.slice(at, at + AT_ONCE),
      });
    tx.apply(this.projection, { cleared });
  }

  /** Deletes rows that are not shown any more. */
  async prune(): Promise<void> {
    const stale = this.#clock.now() - FRESH_MS;
    const [old] = await this.#db.query<{ one: number }>(
      'SELECT 1 AS one FROM global_traffic WHERE updated_at <= :stale LIMIT 1',
      { stale },
    );
    if (!old) return;
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM global_traffic WHERE updated_at <= :stale', { stale });
      tx.apply(this.projection, { stale });
    });
  }
}

function put(state: Totals, row: TotalRow): void {
  const own = state.get(row.clientId);
  if (own) own.set(row.masterGuid, row);
  else state.set(row.clientId, new Map([[row.masterGuid, row]]));
}

function forgetBefore(state: Totals, stale: number): void {
  for (const [id, rows] of state) {
    for (const [guid, { updatedAt }] of rows) if (updatedAt <= stale) rows.delete(guid);
    if (rows.size === 0) state.delete(id);
  }
}
