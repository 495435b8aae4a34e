// The series of this plugin, and the last points of one for a chart.
import { type Clock, contribute, int, list, num, oneOf, shape, type Static } from '../../kernel/index.js';
import { gauge, SeriesList, type TieredSeries, type TimeSeriesApi } from '../time-series/contract.js';

export const METRICS = ['xrAlloc', 'xrSys', 'xrHeapObjects', 'xrNumGC', 'xrPauseNs'] as const;
export type Metric = (typeof METRICS)[number];
const UNITS: Readonly<Record<Metric, string>> = {
  xrAlloc: 'B',
  xrSys: 'B',
  xrHeapObjects: '',
  xrNumGC: '',
  xrPauseNs: 'ns',
};

/** Outbounds with a history; each takes up to 483 KiB on disk. */
export const MOST_TAGS = 128;
export const LONGEST_TAG = 128;

export const metricSeries = Object.fromEntries(
  METRICS.map((metric) => [metric, gauge({ name: `engine-metrics.${metric}`, unit: UNITS[metric] })]),
) as Readonly<Record<Metric, TieredSeries<'gauge'>>>;
/** One key for each outbound. */
export const delaySeries = gauge({ name: 'engine-metrics.delay', unit: 'ms', mostKeys: MOST_TAGS });

export const declaredSeries = () =>
  [...METRICS.map((metric) => metricSeries[metric]), delaySeries].map((one) => contribute(SeriesList, one));

/** seconds between two points */
export const Bucket = () => int().valid(2, 30, 60, 120, 180, 300);
export const MetricName = () => oneOf(...METRICS);
/** `t` is Unix seconds, the start of a point */
export const HistoryReply = list(shape({ t: int(), v: num() }));

const POINTS = 60;

/** Resolves with the means of the last sixty points, oldest first, without points that have no sample. */
export async function lastPoints(
  { store, clock }: { readonly store: TimeSeriesApi | undefined; readonly clock: Clock },
  series: TieredSeries<'gauge'>,
  bucket: number,
  key = '',
): Promise<Static<typeof HistoryReply>> {
  if (!store) return [];
  const step = bucket * 1000;
  const from = (Math.floor(clock.now() / step) - POINTS + 1) * step;
  const { points } = await store.read(series, { key, from, step, most: POINTS });
  return points.flatMap(({ at, mean }) => (mean === null ? [] : [{ t: at / 1000, v: mean }]));
}
