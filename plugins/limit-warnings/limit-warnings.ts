// Finds clients that come near a limit, and warns once for each limit and period.
import {
  type Clock,
  type Database,
  type LiveSettings,
  type Log,
  messageOf,
  SerialQueue,
  storageFailure,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import type { ClientChange, ClientsApi, ClientUsage } from '../clients/contract.js';
import { duringLimitWarning, type LimitWarning } from './contract.js';
import { DAY_MS, nearExpiry, nearQuota, type WarningKind } from './near-limit.js';
import type { warningSettings } from './settings.js';

/** Warnings of one write. The rest comes with the next runs, so that channels are not flooded when thousands expire on one day. */
const BATCH_SIZE = 250;
const EXPIRY_EVERY_MS = 60_000;

const keyOf = (id: number, kind: WarningKind): string => `${id} ${kind}`;

export class LimitWarnings {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #clients: ClientsApi;
  readonly #settings: LiveSettings<typeof warningSettings>;
  readonly #queue = new SerialQueue();
  /** warnings of the present periods; the database decides */
  readonly #given = new Set<string>();
  /** clients to look at */
  readonly #due = new Set<number>();
  /** Clients in a write that may not be committed yet: memory does not have it, so they are looked at in the next run. */
  readonly #fresh = new Set<number>();
  #isAllDue = true;
  /** expiries up to here have been looked at; undefined: none */
  #expiriesUntil: number | undefined;
  #expiriesAt = Number.NEGATIVE_INFINITY;

  constructor(needs: {
    db: Database;
    clock: Clock;
    log: Log;
    clients: ClientsApi;
    settings: LiveSettings<typeof warningSettings>;
  }) {
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#clients = needs.clients;
    this.#settings = needs.settings;
  }

  async start(): Promise<void> {
    const rows = await this.#db.query<{ clientId: number; kind: WarningKind }>(
      'SELECT client_id AS "clientId", kind FROM limit_warnings',
    );
    this.#given.clear();
    for (const { clientId, kind } of rows) this.#given.add(keyOf(Number(clientId), kind));
  }

  /** Another panel of the database has changed these clients. */
  async changedElsewhere(ids: readonly number[]): Promise<void> {
    await this.#queue.run(() => this.start());
    for (const id of ids) this.#due.add(id);
  }

  /** Looks at all clients once: at the start, after other settings, and where events were missed. */
  lookAtAll(): void {
    this.#isAllDue = true;
    this.#expiriesUntil = undefined;
    this.#expiriesAt = Number.NEGATIVE_INFINITY;
  }

  /** Looks at clients that moved bytes; nearly all of them are far from their limit. */
  async counted(usage: readonly Pick<ClientUsage, 'clientId'>[]): Promise<void> {
    const thresholds = this.#settings.read();
    const slice = new TimeSlice();
    for (const { clientId } of usage) {
      if (slice.isOver) await slice.next();
      const client = this.#clients.byId(clientId);
      if (client && nearQuota(client, thresholds) && !this.#given.has(keyOf(clientId, 'quota')))
        this.#due.add(clientId);
    }
  }

  /** A new period or another limit begins: within the write that begins it, the warning is taken back. */
  async changed(tx: Tx, changes: readonly ClientChange[]): Promise<void> {
    const over: [number, WarningKind][] = [];
    for (const { kind, before, after, setsUsage } of changes) {
      const id = (after ?? before)?.id;
      if (id === undefined) continue;
      if (kind !== 'deleted') this.#fresh.add(id);
      const isGone = kind === 'deleted';
      if (isGone || setsUsage || before?.totalGB !== after?.totalGB) over.push([id, 'quota']);
      if (isGone || before?.expiryTime !== after?.expiryTime) over.push([id, 'expiry']);
    }
    const given = over.filter(([id, kind]) => this.#given.has(keyOf(id, kind)));
    if (given.length === 0) return;
    for (let from = 0; from < given.length; from += 1000)
      await tx.run(
        `DELETE FROM limit_warnings WHERE EXISTS (
           SELECT 1 FROM ${tx.sql.rows({ id: 'integer', kind: 'text' })} AS j
           WHERE j.id = limit_warnings.client_id AND j.kind = limit_warnings.kind)`,
        { rows: JSON.stringify(given.slice(from, from + 1000)) },
      );
    // Should the write fail, the row is found when the next warning is about to be written.
    for (const [id, kind] of given) this.#given.delete(keyOf(id, kind));
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run(async () => {
      try {
        await this.#run(signal);
      } catch (error) {
        if (!storageFailure(error))
          this.#log.error('warnings before a limit failed; retrying', { reason: messageOf(error) });
      }
    });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const fresh = new Set(this.#fresh);
    this.#fresh.clear();
    if (this.#isAllDue) await this.#findAll();
    await this.#findExpiring(now);
    const warnings = await this.#near(now, fresh);
    for (const id of fresh) this.#due.add(id);
    if (warnings.length === 0 || signal.aborted) return;
    await this.#warn(warnings, now).catch((error: unknown) => {
      for (const { id } of warnings) this.#due.add(id);
      throw error;
    });
  }

  async #findAll(): Promise<void> {
    this.#isAllDue = false;
    const thresholds = this.#settings.read();
    const slice = new TimeSlice();
    for (const client of this.#clients.all()) {
      if (nearQuota(client, thresholds)) this.#due.add(client.id);
      if (slice.isOver) await slice.next();
    }
  }

  /** Of those that come into the time of warnings only, not of all that are in it. */
  async #findExpiring(now: number): Promise<void> {
    const { warnExpiryDays } = this.#settings.read();
    if (warnExpiryDays === 0 || Math.abs(now - this.#expiriesAt) < EXPIRY_EVERY_MS) return;
    // A clock that was ahead has skipped expiries that are still to come.
    if (now < this.#expiriesAt) this.#expiriesUntil = undefined;
    const until = now + warnExpiryDays * DAY_MS;
    const ids = await this.#clients.expiring(this.#expiriesUntil ?? now, until);
    this.#expiriesUntil = Math.max(this.#expiriesUntil ?? 0, until);
    this.#expiriesAt = now;
    for (const id of ids) this.#due.add(id);
  }

  async #near(now: number, fresh: ReadonlySet<number>): Promise<LimitWarning[]> {
    const thresholds = this.#settings.read();
    const found: LimitWarning[] = [];
    const slice = new TimeSlice();
    for (const id of this.#due) {
      if (slice.isOver) await slice.next();
      if (found.length >= BATCH_SIZE) break;
      this.#due.delete(id);
      if (fresh.has(id)) continue;
      const client = this.#clients.byId(id);
      if (!client) continue;
      const { email, tgId: messengerId, up, down, totalGB: total, expiryTime } = client;
      const facts = { id, email, messengerId, used: up + down, total, expiryTime: Math.max(0, expiryTime) };
      if (nearQuota(client, thresholds) && !this.#given.has(keyOf(id, 'quota')))
        found.push({ kind: 'quota', ...facts });
      if (nearExpiry(client, thresholds, now) && !this.#given.has(keyOf(id, 'expiry')))
        found.push({ kind: 'expiry', ...facts });
    }
    return found;
  }

  async #warn(found: readonly LimitWarning[], at: number): Promise<void> {
    const given = await this.#db.write(async (tx) => {
      const stored = await tx.query<{ clientId: number; kind: WarningKind }>(
        'SELECT client_id AS "clientId", kind FROM limit_warnings WHERE client_id IN (:ids)',
        { ids: found.map(({ id }) => id) },
      );
      const known = new Set(stored.map(({ clientId, kind }) => keyOf(Number(clientId), kind)));
      const warnings = found.filter(({ id, kind }) => !this.#fresh.has(id) && !known.has(keyOf(id, kind)));
      if (warnings.length > 0) {
        await tx.run(
          `INSERT INTO limit_warnings (client_id, kind, at)
           SELECT j.id, j.kind, :at FROM ${tx.sql.rows({ id: 'integer', kind: 'text' })} AS j`,
          { at, rows: JSON.stringify(warnings.map(({ id, kind }) => [id, kind])) },
        );
        await tx.during(duringLimitWarning, { at, warnings });
      }
      return [...known, ...warnings.map(({ id, kind }) => keyOf(id, kind))];
    });
    for (const key of given) this.#given.add(key);
  }
}
