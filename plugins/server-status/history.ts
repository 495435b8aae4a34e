// History of the machine: a sample of each metric every two seconds, and the last sixty points of one for a chart.
import { type Clock, contribute, int, list, num, oneOf, shape, type Static } from '../../kernel/index.js';
import { gauge, SeriesList, type TieredSeries, type TimeSeriesApi } from '../time-series/contract.js';
import type { PresenceApi } from '../traffic/contract.js';
import type { MachineStatus } from './machine.js';

/** `cpu` and `mem` in percent, `netUp` and `netDown` in bytes a second, `online` in clients. */
export const METRICS = ['cpu', 'mem', 'netUp', 'netDown', 'online', 'load1', 'load5', 'load15'] as const;
export type Metric = (typeof METRICS)[number];
const UNITS: Readonly<Record<Metric, string>> = {
  cpu: '%',
  mem: '%',
  netUp: 'B/s',
  netDown: 'B/s',
  online: 'clients',
  load1: '',
  load5: '',
  load15: '',
};
const series = Object.fromEntries(
  METRICS.map((metric) => [metric, gauge({ name: `server-status.${metric}`, unit: UNITS[metric] })]),
) as Readonly<Record<Metric, TieredSeries<'gauge'>>>;

export const declaredSeries = () => METRICS.map((metric) => contribute(SeriesList, series[metric]));

/** seconds between two points */
export const Bucket = () => int().valid(2, 30, 60, 120, 180, 300);
export const MetricName = () => oneOf(...METRICS);
/** `t` is Unix seconds, the start of a point */
export const HistoryReply = list(shape({ t: int(), v: num() }));
export const CpuHistoryReply = list(shape({ t: int(), cpu: num() }));

const POINTS = 60;

export class MachineHistory {
  readonly #series: TimeSeriesApi | undefined;
  readonly #presence: PresenceApi | undefined;
  readonly #clock: Clock;

  constructor({
    series: store,
    presence,
    clock,
  }: {
    series: TimeSeriesApi | undefined;
    presence: PresenceApi | undefined;
    clock: Clock;
  }) {
    this.#series = store;
    this.#presence = presence;
    this.#clock = clock;
  }

  record({ cpu, mem, netIO, load }: MachineStatus): void {
    const values: Readonly<Record<Metric, number>> = {
      cpu,
      mem: mem.total > 0 ? (100 * mem.current) / mem.total : 0,
      netUp: netIO.up,
      netDown: netIO.down,
      online: this.#presence?.online().length ?? 0,
      ...load,
    };
    for (const metric of METRICS) this.#series?.add(series[metric], values[metric]);
  }

  /** Resolves with the means of the last sixty points, oldest first, without points that have no sample. */
  async last(metric: Metric, bucket: number): Promise<Static<typeof HistoryReply>> {
    if (!this.#series) return [];
    const step = bucket * 1000;
    const from = (Math.floor(this.#clock.now() / step) - POINTS + 1) * step;
    const { points } = await this.#series.read(series[metric], { from, step, most: POINTS });
    return points.flatMap(({ at, mean }) => (mean === null ? [] : [{ t: at / 1000, v: mean }]));
  }
}
