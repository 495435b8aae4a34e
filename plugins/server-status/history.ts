// History of the machine: a sample of each metric every two seconds, and the last sixty points of one for a chart.
import { type Clock, contribute, int, list, num, oneOf, shape, type Static } from '../../kernel/index.js';
import { gauge, SeriesList, type TieredSeries, type TimeSeriesApi } from '../time-series/contract.js';
import type { PresenceApi } from '../traffic/contract.js';
import type { MachineStatus } from './machine.js';

/** unit by metric; those of `/s` are means since the previous sample */
const UNITS = {
  cpu: '%',
  mem: '%',
  swap: '%',
  netUp: 'B/s',
  netDown: 'B/s',
  pktUp: 'packets/s',
  pktDown: 'packets/s',
  diskRead: 'B/s',
  diskWrite: 'B/s',
  diskUsage: '%',
  tcpCount: 'sockets',
  udpCount: 'sockets',
  online: 'clients',
  load1: '',
  load5: '',
  load15: '',
} as const;
export type Metric = keyof typeof UNITS;
export const METRICS = Object.keys(UNITS) as readonly Metric[];
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

const percentOf = ({ current, total }: MachineStatus['mem']): number =>
  total > 0 ? (100 * current) / total : 0;

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

  record({ cpu, mem, swap, disk, netIO, diskIO, tcpCount, udpCount, load }: MachineStatus): void {
    const values: Readonly<Record<Metric, number>> = {
      cpu,
      mem: percentOf(mem),
      swap: percentOf(swap),
      netUp: netIO.up,
      netDown: netIO.down,
      pktUp: netIO.pktUp,
      pktDown: netIO.pktDown,
      diskRead: diskIO.read,
      diskWrite: diskIO.write,
      diskUsage: percentOf(disk),
      tcpCount,
      udpCount,
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
