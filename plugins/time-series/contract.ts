// Numbers over time, stored on disk within limits: how plugins declare, record and read them.
import { extensionPoint, token, type Tx } from '../../kernel/index.js';
import { seriesProblem } from './series-problem.js';

export { dayOf, nameOfDay } from './day.js';

/** `gauge`: a level, like a load; coarser points hold its mean, minimum and maximum. `counter`: an amount since the previous sample; coarser points hold the sum. */
export type SeriesKind = 'gauge' | 'counter';

/** A series of samples: 2 s points for an hour, 1 min points for two days, 5 min points for thirty days. */
export interface TieredSeries<K extends SeriesKind = SeriesKind> {
  readonly retention: 'tiers';
  readonly kind: K;
  /** `<plugin>.<name>` */
  readonly name: string;
  /** unit of the values for display, like `%` or `B/s` */
  readonly unit: string;
  /** 1 to 1,000; each key takes up to 500 KB (gauge) or 220 KB (counter) on disk */
  readonly mostKeys: number;
}

/** A whole number for each key and calendar day in the time zone of the panel, in the database. */
export interface DailySeries {
  readonly retention: 'daily';
  readonly kind: 'counter';
  /** `<plugin>.<name>` */
  readonly name: string;
  readonly unit: string;
  /** number of days to retain, 1 to 400 */
  readonly days: number;
}
export type Series = TieredSeries | DailySeries;

interface Declared {
  readonly name: string;
  readonly unit: string;
  /** default 1 */
  readonly mostKeys?: number;
}
export const gauge = ({ name, unit, mostKeys = 1 }: Declared): TieredSeries<'gauge'> => ({
  retention: 'tiers',
  kind: 'gauge',
  name,
  unit,
  mostKeys,
});
export const counter = ({ name, unit, mostKeys = 1 }: Declared): TieredSeries<'counter'> => ({
  retention: 'tiers',
  kind: 'counter',
  name,
  unit,
  mostKeys,
});
export const dailyCounter = (declared: Omit<DailySeries, 'retention' | 'kind'>): DailySeries => ({
  retention: 'daily',
  kind: 'counter',
  ...declared,
});

/** Series of all plugins. A plugin adds each of its own before it records: `contribute(SeriesList, load)`. */
export const SeriesList = extensionPoint<Series>('time-series', 'SeriesList', seriesProblem);

/** `at` is the start of the point, Unix ms. Without samples the values are null, never 0. */
export interface GaugePoint {
  readonly at: number;
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
}
export interface CounterPoint {
  readonly at: number;
  readonly sum: number | null;
}
export interface History<K extends SeriesKind> {
  /** ms between the points */
  readonly step: number;
  /** oldest first, one for every step */
  readonly points: readonly (K extends 'gauge' ? GaugePoint : CounterPoint)[];
}

/** A part of a series; times in Unix ms, both ends included. */
export interface Span {
  /** default: the empty key, for series with one key */
  readonly key?: string;
  /** points older than thirty days are null */
  readonly from: number;
  /** default: now */
  readonly to?: number;
  /** least ms between two points; `most` or the age of `from` can make it longer */
  readonly step?: number;
  /** most points, 1 to 2,000; default 500 */
  readonly most?: number;
}

/** One day; null where nothing was counted. */
export interface DayAmount {
  /** `2026-01-31`, in the time zone that held when it was counted */
  readonly day: string;
  readonly amount: number | null;
}

/** Every method throws a RangeError that names series and plugin if an argument is not valid, and then changes nothing. */
export interface TimeSeriesApi {
  /** Records a sample, in memory; it is on disk within 10 s, and a crash loses those seconds. `at` (Unix ms, now without it) lies at most a minute ahead and thirty days back. */
  add(
    series: TieredSeries,
    value: number,
    options?: { readonly key?: string | undefined; readonly at?: number | undefined },
  ): void;
  /** Reads a span in the finest tier that fits it, samples that are not on disk yet included. */
  read<K extends SeriesKind>(series: TieredSeries<K>, span: Span): Promise<History<K>>;
  /** Lists the keys that have samples. */
  keys(series: TieredSeries): Promise<readonly string[]>;
  /** Removes a key with all its samples and makes room for another one. */
  forget(series: TieredSeries, key: string): Promise<void>;

  /** Adds amounts (safe integers, not below 0) to the day of `at` (now without it), within a write of the caller's: both are saved, or neither. */
  count(
    tx: Tx,
    series: DailySeries,
    amounts: readonly { readonly key: string; readonly amount: number }[],
    at?: number,
  ): Promise<void>;
  /** Reads the last days of a key, oldest first, today included. */
  days(series: DailySeries, key: string, last: number): Promise<readonly DayAmount[]>;
  /** Removes all days of these keys, at most 1,000. */
  forgetDays(tx: Tx, series: DailySeries, keys: readonly string[]): Promise<void>;
}
export const TimeSeries = token<TimeSeriesApi>('time-series', 'TimeSeries');
