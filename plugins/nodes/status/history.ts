// History of the nodes, for charts: a sample of each metric with every heartbeat.
import { type Clock, contribute, list, num, oneOf, shape, int, type Static } from '../../../kernel/index.js';
import { gauge, SeriesList, type TieredSeries, type TimeSeriesApi } from '../../time-series/contract.js';
import { MOST_NODES } from '../node-store.js';
import type { StatusReport } from './status-report.js';

const UNITS = { cpu: '%', mem: '%', netUp: 'B/s', netDown: 'B/s' } as const;
type Metric = keyof typeof UNITS;
const METRICS = Object.keys(UNITS) as readonly Metric[];
const series = Object.fromEntries(
  METRICS.map((metric) => [
    metric,
    gauge({ name: `nodes.${metric}`, unit: UNITS[metric], mostKeys: MOST_NODES }),
  ]),
) as Readonly<Record<Metric, TieredSeries<'gauge'>>>;
export const declaredSeries = () => METRICS.map((metric) => contribute(SeriesList, series[metric]));

export const MetricName = () => oneOf(...METRICS);
/** seconds between two points */
export const Bucket = () => int().valid(2, 30, 60, 120, 180, 300);
export const HistoryReply = list(
  shape({ t: int().description('Unix seconds, the start of the point'), v: num() }),
);
const POINTS = 60;

export class NodeHistory {
  readonly #series: TimeSeriesApi | undefined;
  readonly #clock: Clock;

  constructor({ series: store, clock }: { series: TimeSeriesApi | undefined; clock: Clock }) {
    this.#series = store;
    this.#clock = clock;
  }

  record(id: number, { cpuPct, memPct, netUp, netDown }: StatusReport): void {
    const values: Readonly<Record<Metric, number>> = { cpu: cpuPct, mem: memPct, netUp, netDown };
    for (const metric of METRICS) this.#series?.add(series[metric], values[metric], { key: String(id) });
  }

  /** Resolves with the means of the last sixty points, oldest first, without points that have no sample. */
  async last(id: number, metric: Metric, bucket: number): Promise<Static<typeof HistoryReply>> {
    if (!this.#series) return [];
    const step = bucket * 1000;
    const from = (Math.floor(this.#clock.now() / step) - POINTS + 1) * step;
    const { points } = await this.#series.read(series[metric], { key: String(id), from, step, most: POINTS });
    return points.flatMap(({ at, mean }) => (mean === null ? [] : [{ t: at / 1000, v: mean }]));
  }

  async forget(id: number): Promise<void> {
    for (const metric of METRICS) await this.#series?.forget(series[metric], String(id));
  }
}
