// Begins new periods of clients: renews those that expired, and resets those whose own `trafficReset` is due.
import {
  type Database,
  type Log,
  messageOf,
  type Principal,
  storageFailure,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import type { ClientPeriodsApi, ClientsApi, Renewable } from '../clients/contract.js';
import type { EngineApi } from '../engine/contract.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import { periodStart, QUARTER_MS } from './calendar.js';
import { clientRenewed, clientTrafficReset } from './contract.js';
import { type Renewal, renewal } from './renewal.js';

/** Clients of one transaction: other writes go between two of them. Its statements are made in one go, a few milliseconds for so many. */
const BATCH_SIZE = 250;

export class ClientWatch {
  readonly #db: Database;
  readonly #log: Log;
  readonly #self: Principal;
  readonly #clients: ClientsApi;
  readonly #periods: ClientPeriodsApi;
  readonly #engine: EngineApi;
  readonly #settings: SettingsApi;
  /** of the last check of the schedules; undefined forces the next check */
  #quarter: number | undefined;

  constructor(needs: {
    db: Database;
    log: Log;
    self: Principal;
    clients: ClientsApi;
    periods: ClientPeriodsApi;
    engine: EngineApi;
    settings: SettingsApi;
  }) {
    this.#db = needs.db;
    this.#log = needs.log;
    this.#self = needs.self;
    this.#clients = needs.clients;
    this.#periods = needs.periods;
    this.#engine = needs.engine;
    this.#settings = needs.settings;
  }

  /** Call it when the calendar has changed. */
  changed(): void {
    this.#quarter = undefined;
  }

  /** Call it before limits are applied, so that a client that renews is never disabled. A failure is logged: limits must not wait for it. */
  async run(now: number): Promise<void> {
    await this.#renewDue(now).catch((error: unknown) =>
      this.#report('clients could not be renewed; the next poll retries', error),
    );
    await this.#resetDue(now).catch((error: unknown) => {
      this.#quarter = undefined;
      this.#report('the traffic of clients could not be reset; the next poll retries', error);
    });
  }

  /** The kernel reports failures of the database. */
  #report(problem: string, error: unknown): void {
    if (!storageFailure(error)) this.#log.error(problem, { reason: messageOf(error) });
  }

  async #renewDue(now: number): Promise<void> {
    for (;;) {
      if ((await this.#periods.renewable(this.#db, now, 1)).length === 0) return;
      const { found, enabled } = await this.#db.write((tx) => this.#renew(tx, now));
      await this.#tellCore(enabled);
      this.#log.info('clients reached the end of their time and renew', { count: found });
      if (found < BATCH_SIZE) return;
    }
  }

  async #renew(tx: Tx, now: number) {
    // Read inside the write: an admin's edit of a moment ago counts.
    const due = await this.#periods.renewable(tx, now, BATCH_SIZE);
    const zone = timeZoneOf(this.#settings.read(panelSettings).timeLocation);
    const planned: (Renewal & { readonly client: Renewable })[] = [];
    const slice = new TimeSlice();
    for (const client of due) {
      if (slice.isOver) await slice.next();
      const next = renewal(client, now, zone);
      if (next) planned.push({ client, ...next });
    }
    const enabled = await this.#periods.save(
      tx,
      planned.map(({ client: { id }, expiryTime, resetCount, isBack }) => ({
        id,
        fields: { expiryTime, resetCount, ...(isBack && { countedSince: now }) },
        isNew: isBack,
      })),
      now,
      this.#self,
    );
    const clients = planned.flatMap(({ client: { id, email, expiryTime: previous }, isBack, ...next }) =>
      isBack
        ? [
            {
              id,
              email,
              inboundIds: this.#clients.byId(id)?.inboundIds ?? [],
              previousExpiryTime: previous,
              expiryTime: next.expiryTime,
              resetCount: next.resetCount,
            },
          ]
        : [],
    );
    if (clients.length > 0) tx.emit(clientRenewed, { at: now, clients });
    return { found: due.length, enabled };
  }

  /** Once for each client, however long no panel ran. */
  async #resetDue(now: number): Promise<void> {
    const quarter = Math.floor(now / QUARTER_MS);
    if (quarter === this.#quarter) return;
    this.#quarter = quarter;
    const zone = timeZoneOf(this.#settings.read(panelSettings).timeLocation);
    const startOf = (schedule: Parameters<typeof periodStart>[0], day: number): number =>
      periodStart(schedule, day, now, zone);
    for (;;) {
      const { ids, enabled } = await this.#db.write(async (tx) => {
        const ids = await this.#periods.withEndedPeriod(tx, startOf, now, BATCH_SIZE);
        const edits = ids.map((id) => ({ id, fields: { countedSince: now }, isNew: true }));
        const enabled = await this.#periods.save(tx, edits, now, this.#self);
        const clients = ids.flatMap((id) => {
          const email = this.#clients.byId(id)?.email;
          return email === undefined ? [] : [{ id, email }];
        });
        if (clients.length > 0) tx.emit(clientTrafficReset, { at: now, clients });
        return { ids, enabled };
      });
      await this.#tellCore(enabled);
      if (ids.length > 0)
        this.#log.info('reset the traffic of clients: a new period has started', { count: ids.length });
      if (ids.length < BATCH_SIZE) return;
    }
  }

  async #tellCore(ids: ReadonlySet<number>): Promise<void> {
    if (ids.size === 0) return;
    await this.#engine.reconcileUsers(
      // Read again: a client may have been attached since.
      [...ids].flatMap((clientId) =>
        (this.#clients.byId(clientId)?.inboundIds ?? []).map((inboundId) => ({ inboundId, clientId })),
      ),
    );
  }
}
