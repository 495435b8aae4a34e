// The table of days: reads it, and removes what is too old or belongs to deleted clients.
import type { Clock, Database, LiveSettings, Tx } from '../../kernel/index.js';
import type { ClientUsage } from '../clients/contract.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import { dayOf } from '../time-series/contract.js';
import type { usageSettings } from './settings.js';
import type { UsageJournal } from './usage-journal.js';

/** Rows that one write removes at most, because other writes wait for it. */
const MOST_REMOVED = 5_000;
const MOST_DELETED = 1_000;

export interface Bytes {
  readonly up: number;
  readonly down: number;
}
export interface ClientBytes extends Bytes {
  readonly id: number;
}

export class UsageDays {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #panel: SettingsApi;
  readonly #settings: LiveSettings<typeof usageSettings>;
  readonly #journal: UsageJournal;

  constructor(needs: {
    db: Database;
    clock: Clock;
    panel: SettingsApi;
    settings: LiveSettings<typeof usageSettings>;
    journal: UsageJournal;
  }) {
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#panel = needs.panel;
    this.#settings = needs.settings;
    this.#journal = needs.journal;
  }

  /** Today as days since 1970-01-01, by the calendar of the panel. */
  get today(): number {
    return this.#dayOf(this.#clock.now());
  }
  get oldest(): number {
    return this.today - this.#settings.read().usageHistoryDays + 1;
  }

  count(tx: Tx, at: number, usage: readonly ClientUsage[]): Promise<void> {
    return this.#journal.append(tx, this.#dayOf(at), usage);
  }

  /** Resolves with the days on which the client moved bytes. */
  async ofClient(id: number, from: number, to: number): Promise<ReadonlyMap<number, Bytes>> {
    // One index look-up for each day; a range would read all clients of all days.
    const days = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const rows = await this.#db.query<{ day: number } & Bytes>(
      'SELECT day, up, down FROM usage_by_day WHERE client_id = :id AND day IN (:days)',
      { id, days },
    );
    return new Map(rows.map(({ day, up, down }) => [Number(day), { up: Number(up), down: Number(down) }]));
  }

  /** Resolves with the clients that moved most on this day, and with the sums of all of them. */
  async ofDay(
    day: number,
    most: number,
  ): Promise<Bytes & { readonly clients: number; readonly top: ClientBytes[] }> {
    const rows = await this.#db.query<ClientBytes>(
      `SELECT d.client_id AS id, d.up, d.down FROM usage_by_day d JOIN clients ON clients.id = d.client_id
       WHERE d.day = :day ORDER BY d.up + d.down DESC, d.client_id LIMIT :most`,
      { day, most },
    );
    const [sums] = await this.#db.query<{ clients: number; up: number | null; down: number | null }>(
      // SQLite refuses a sum of integers above 2^63.
      `SELECT count(*) AS clients, sum(d.up * 1.0) AS up, sum(d.down * 1.0) AS down
       FROM usage_by_day d JOIN clients ON clients.id = d.client_id WHERE d.day = :day`,
      { day },
    );
    return {
      clients: Number(sums?.clients ?? 0),
      up: Math.min(Number(sums?.up ?? 0), Number.MAX_SAFE_INTEGER),
      down: Math.min(Number(sums?.down ?? 0), Number.MAX_SAFE_INTEGER),
      top: rows.map(({ id, up, down }) => ({ id: Number(id), up: Number(up), down: Number(down) })),
    };
  }

  /** Removes the oldest day if it is too old. One for each call: a clock that is wrong for an hour costs one day, not all of them. */
  async prune(signal: AbortSignal): Promise<void> {
    const [found] = await this.#db.query<{ day: number | null }>('SELECT min(day) AS day FROM usage_by_day');
    const day = found?.day ?? null;
    if (day === null || Number(day) >= this.oldest) return;
    let isLeft = true;
    while (isLeft && !signal.aborted) isLeft = await this.#removeSome(Number(day));
  }

  /** Returns whether rows of the day are left. */
  async #removeSome(day: number): Promise<boolean> {
    const [end] = await this.#db.query<{ clientId: number }>(
      `SELECT client_id AS "clientId" FROM usage_by_day WHERE day = :day ORDER BY client_id LIMIT 1 OFFSET ${MOST_REMOVED}`,
      { day },
    );
    await this.#db.write((tx) =>
      tx.run(`DELETE FROM usage_by_day WHERE day = :day${end ? ' AND client_id < :end' : ''}`, {
        day,
        ...(end && { end: end.clientId }),
      }),
    );
    return end !== undefined;
  }

  /** Notes deleted clients in the write that deletes them. Their days follow later: a client has a row in each of them. */
  noteDeleted(tx: Tx, ids: readonly number[]): Promise<void> {
    return tx.run(
      `INSERT INTO usage_by_day_deleted (client_id) SELECT j.client_id FROM ${tx.sql.rows({ client_id: 'integer' })} AS j`,
      { rows: JSON.stringify(ids.map((id) => [id])) },
    );
  }

  /** Clients whose deletion is undone have what is left of their days. */
  async noteReturned(tx: Tx, ids: readonly number[]): Promise<void> {
    await tx.run('DELETE FROM usage_by_day_deleted WHERE client_id IN (:ids)', { ids });
  }

  /** Removes the days of deleted clients, a day in each write. */
  async forgetDeleted(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const rows = await this.#db.query<{ clientId: number }>(
        `SELECT client_id AS "clientId" FROM usage_by_day_deleted ORDER BY client_id LIMIT ${MOST_DELETED}`,
      );
      if (rows.length === 0) return;
      const ids = rows.map(({ clientId }) => clientId);
      for (let day = await this.#dayAfter(-1e9); day !== undefined && !signal.aborted; ) {
        const days = { day, ids };
        await this.#db.write((tx) =>
          tx.run('DELETE FROM usage_by_day WHERE day = :day AND client_id IN (:ids)', days),
        );
        day = await this.#dayAfter(day);
      }
      if (!signal.aborted)
        await this.#db.write((tx) =>
          tx.run('DELETE FROM usage_by_day_deleted WHERE client_id IN (:ids)', { ids }),
        );
    }
  }

  /** The next day that has rows: a clock that was wrong once leaves a day of 1970, and 20,000 days without any behind it. */
  async #dayAfter(day: number): Promise<number | undefined> {
    const [found] = await this.#db.query<{ next: number | null }>(
      'SELECT min(day) AS next FROM usage_by_day WHERE day > :day',
      { day },
    );
    return found?.next === null || found === undefined ? undefined : Number(found.next);
  }

  #dayOf(at: number): number {
    return dayOf(at, timeZoneOf(this.#panel.read(panelSettings).timeLocation));
  }
}
