// Amounts for each key and day, in the database: they are saved in the caller's write, so they agree with what it counts.
import { type Clock, type Database, type Projection, TimeSlice, type Tx } from '../../kernel/index.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import { checkAmount, checkAmounts, checkForgotten, checkKey, checkLast, refusal } from './checks.js';
import type { DailySeries, DayAmount, TimeSeriesApi } from './contract.js';
import { dayOf, nameOfDay } from './day.js';
import type { SeriesName, TimeSeriesTables } from './tables.js';

/** Rows that one write removes at most, because other writes wait for it. */
const MOST_REMOVED = 5_000;

export class DailyAmounts implements Pick<TimeSeriesApi, 'count' | 'days' | 'forgetDays'> {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #settings: SettingsApi;
  readonly #tables: TimeSeriesTables;
  /** series of this start; the projection also has those of disabled plugins */
  #declared: ReadonlySet<string> = new Set();
  /** by name */
  readonly projection: Projection<Map<string, SeriesName>, readonly SeriesName[]>;

  constructor({
    db,
    clock,
    settings,
    tables,
  }: { db: Database; clock: Clock; settings: SettingsApi; tables: TimeSeriesTables }) {
    this.#db = db;
    this.#clock = clock;
    this.#settings = settings;
    this.#tables = tables;
    this.projection = db.projection<Map<string, SeriesName>, readonly SeriesName[]>({
      load: async () => new Map((await this.#names()).map((row) => [row.name, row])),
      apply: (known, rows) => {
        for (const row of rows) known.set(row.name, row);
      },
    });
  }

  /** Stores the declared series: they are pruned even if their plugin is disabled. */
  async start(declared: readonly DailySeries[]): Promise<void> {
    this.#declared = new Set(declared.map(({ name }) => name));
    const known = this.projection.state;
    const changed = declared.filter(({ name, days }) => known.get(name)?.days !== days);
    if (changed.length === 0) return;
    await this.#db.write(async (tx) => {
      const { rows, onConflict, incoming } = tx.sql;
      // Not through the model, which only checks for conflicts of `id`.
      await tx.run(
        `INSERT INTO time_series_names (name, days)
         SELECT j.name, j.days FROM ${rows({ name: 'text', days: 'integer' })} AS j WHERE 1 = 1
         ${onConflict('name', `days = ${incoming('days')}`)}`,
        { rows: JSON.stringify(changed.map(({ name, days }) => [name, days])) },
      );
      tx.apply(this.projection, await this.#names(tx));
    });
  }

  async count(
    tx: Tx,
    series: DailySeries,
    amounts: readonly { readonly key: string; readonly amount: number }[],
    at: number = this.#clock.now(),
  ): Promise<void> {
    const id = this.#idOf(series);
    checkAmounts(series, amounts);
    const today = this.#today();
    const day = Number.isFinite(at) && Math.abs(at) < 8.64e15 ? dayOf(at, this.#zone()) : Number.NaN;
    // Tomorrow is allowed: the time zone may change between a measurement and its write.
    if (!(day <= today + 1 && day > today - series.days))
      throw refusal(series, `the time ${at} must be Unix ms within the last ${series.days} days`);
    const sums = new Map<string, number>();
    const slice = new TimeSlice();
    for (const { key, amount } of amounts) {
      if (slice.isOver) await slice.next();
      checkAmount(series, key, amount);
      if (amount > 0) sums.set(key, (sums.get(key) ?? 0) + amount);
    }
    if (sums.size === 0) return;
    await tx.run(
      `INSERT INTO time_series_days (series, day, item, amount)
       SELECT :id, :day, j.item, j.amount FROM ${tx.sql.rows({ item: 'text', amount: 'integer' })} AS j WHERE 1 = 1
       ${tx.sql.onConflict('series, day, item', `amount = time_series_days.amount + ${tx.sql.incoming('amount')}`)}`,
      { id, day, rows: JSON.stringify([...sums]) },
    );
  }

  async days(series: DailySeries, key: string, last: number): Promise<readonly DayAmount[]> {
    const id = this.#idOf(series);
    checkKey(series, key);
    checkLast(series, last);
    const today = this.#today();
    const wanted = Array.from({ length: last }, (_, i) => today - last + 1 + i);
    // One index look-up for each day; a range would read all keys of all days.
    const rows = await this.#db.query<{ day: number; amount: number }>(
      'SELECT day, amount FROM time_series_days WHERE series = :id AND day IN (:wanted) AND item = :key',
      { id, wanted, key },
    );
    const amounts = new Map(rows.map(({ day, amount }) => [Number(day), Number(amount)]));
    return wanted.map((day) => ({ day: nameOfDay(day), amount: amounts.get(day) ?? null }));
  }

  async forgetDays(tx: Tx, series: DailySeries, keys: readonly string[]): Promise<void> {
    const id = this.#idOf(series);
    checkForgotten(series, keys);
    if (keys.length === 0) return;
    const today = this.#today();
    // One more day at each end: the time zone may have changed.
    for (let day = today + 1; day >= today - series.days; day--)
      await tx.run('DELETE FROM time_series_days WHERE series = :id AND day = :day AND item IN (:keys)', {
        id,
        day,
        keys,
      });
  }

  /** Removes the oldest day of each series when it is too old. One per run: a clock that is wrong for an hour costs one day, not all of them. */
  async prune(signal: AbortSignal): Promise<void> {
    const today = this.#today();
    for (const { id, days } of this.projection.state.values()) {
      const [oldest] = await this.#db.query<{ day: number | null }>(
        'SELECT min(day) AS day FROM time_series_days WHERE series = :id',
        { id },
      );
      const day = oldest?.day ?? null;
      if (day === null || Number(day) > today - days) continue;
      let isLeft = true;
      while (isLeft && !signal.aborted) isLeft = await this.#removeSome(id, Number(day));
    }
  }

  /** Returns whether rows of the day are left. */
  async #removeSome(id: number, day: number): Promise<boolean> {
    const [end] = await this.#db.query<{ item: string }>(
      `SELECT item FROM time_series_days WHERE series = :id AND day = :day ORDER BY item LIMIT 1 OFFSET ${MOST_REMOVED}`,
      { id, day },
    );
    await this.#db.write((tx) =>
      tx.run(
        `DELETE FROM time_series_days WHERE series = :id AND day = :day${end ? ' AND item < :end' : ''}`,
        { id, day, ...(end && { end: end.item }) },
      ),
    );
    return end !== undefined;
  }

  #idOf(series: DailySeries): number {
    const known = this.#declared.has(series?.name) ? this.projection.state.get(series.name) : undefined;
    if (!known)
      throw new RangeError(
        `the daily series ${series?.name} is not declared; contribute it to SeriesList, and wait for the start of your plugin`,
      );
    return known.id;
  }

  async #names(tx?: Tx): Promise<SeriesName[]> {
    const rows = await this.#tables.names.findAll({ raw: true, order: ['id'], transaction: tx?.t ?? null });
    return rows as unknown as SeriesName[];
  }

  #zone(): string | undefined {
    return timeZoneOf(this.#settings.read(panelSettings).timeLocation);
  }
  #today(): number {
    return dayOf(this.#clock.now(), this.#zone());
  }
}
