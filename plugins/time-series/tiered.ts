// All series in tiers: finds the recorder of each, checks samples, and flushes them together.
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Log, messageOf, TimeSlice } from '../../kernel/index.js';
import { checkedSpan, checkKey, checkSample, refusal } from './checks.js';
import type { History, SeriesKind, Span, TieredSeries, TimeSeriesApi } from './contract.js';
import { Recorder } from './recorder.js';
import { type Aggregate, merged } from './slot.js';
import { bucketOf, OLDEST_MS, planRead, type Tier, TIERS } from './tiers.js';

type Api = Pick<TimeSeriesApi, 'add' | 'read' | 'keys' | 'forget'>;

export class TieredStore implements Api {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #recorders = new Map<string, Recorder>();
  /** the reason that was logged last */
  #trouble = '';

  constructor({ dataDirectory, clock, log }: { dataDirectory: string; clock: Clock; log: Log }) {
    this.#folder = join(dataDirectory, 'time-series');
    this.#clock = clock;
    this.#log = log;
  }

  /** Opens the files. Each flush retries a file that cannot be opened. */
  async open(declared: readonly TieredSeries[]): Promise<void> {
    for (const series of declared)
      this.#recorders.set(
        series.name,
        new Recorder(series, join(this.#folder, `${series.name}.series`), this.#log),
      );
    await this.#removeOutdated().catch((error: unknown) =>
      this.#log.warn('old files of series cannot be removed', { reason: messageOf(error) }),
    );
    await this.#forAll((recorder) => recorder.open());
  }

  add(series: TieredSeries, value: number, { key = '', at }: Parameters<Api['add']>[2] = {}): void {
    const recorder = this.#recorderOf(series);
    const now = this.#clock.now();
    checkKey(series, key);
    checkSample(series, value, at ?? now, now);
    if (!recorder.add(key, value, at ?? now, now))
      throw refusal(
        series,
        `it has ${series.mostKeys} keys already, which are all that it may have; forget one before ${JSON.stringify(key)} comes`,
      );
  }

  async read<K extends SeriesKind>(series: TieredSeries<K>, span: Span): Promise<History<K>> {
    const recorder = this.#recorderOf(series);
    const { key = '' } = span;
    checkKey(series, key);
    const now = this.#clock.now();
    const plan = planRead(checkedSpan(series, span, now), now);
    const tier = TIERS[plan.tier] as Tier;
    const end = bucketOf(plan.last + plan.step, tier) - 1;
    const found = await recorder.read(key, plan.tier, bucketOf(plan.first, tier), end);
    const points = new Map<number, Aggregate>();
    const slice = new TimeSlice();
    for (const [bucket, value] of found) {
      if (slice.isOver) await slice.next();
      const start = Math.floor((bucket * tier.step) / plan.step) * plan.step;
      points.set(start, merged(points.get(start), value));
    }
    const starts = Array.from(
      { length: (plan.last - plan.first) / plan.step + 1 },
      (_, i) => plan.first + i * plan.step,
    );
    const pointOf = series.kind === 'gauge' ? gaugePoint : counterPoint;
    return {
      step: plan.step,
      points: starts.map((at) => pointOf(at, points.get(at))) as unknown as History<K>['points'],
    };
  }

  keys(series: TieredSeries): Promise<readonly string[]> {
    return this.#recorderOf(series).keys();
  }

  forget(series: TieredSeries, key: string): Promise<void> {
    const recorder = this.#recorderOf(series);
    checkKey(series, key);
    return recorder.forget(key);
  }

  /** Writes all new samples. Logs a disk error once, and again when it is over. */
  flush(): Promise<void> {
    return this.#forAll((recorder) => recorder.flush());
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#forAll((recorder) => recorder.close());
  }

  /** A failure of one series does not affect the others. */
  async #forAll(work: (recorder: Recorder) => Promise<void>): Promise<void> {
    let trouble = '';
    for (const recorder of this.#recorders.values()) {
      try {
        await work(recorder);
      } catch (error) {
        trouble ||= `${recorder.series.name}: ${messageOf(error)}`;
      }
    }
    if ((trouble === '') === (this.#trouble === '')) return;
    if (trouble !== '')
      this.#log.warn('cannot write series; keeping recent points in memory and retrying', {
        reason: trouble,
      });
    else this.#log.info('series can be written again');
    this.#trouble = trouble;
  }

  /** Removes files of undeclared series whose points are all too old to be read. */
  async #removeOutdated(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      if (this.#recorders.has(name.replace(/\.series$/, '')) || !/\.series(?:\.unreadable)?$/.test(name))
        continue;
      if ((await stat(path)).mtimeMs < this.#clock.now() - OLDEST_MS) await rm(path);
    }
  }

  #recorderOf<K extends SeriesKind>(series: TieredSeries<K>): Recorder<K> {
    const recorder = this.#recorders.get(series?.name);
    if (!recorder || recorder.series.kind !== series.kind)
      throw new RangeError(
        `the series ${series?.name} is not declared; contribute it to SeriesList, and wait for the start of your plugin`,
      );
    return recorder as Recorder<K>;
  }
}

const gaugePoint = (at: number, value: Aggregate | undefined) => ({
  at,
  mean: value ? value.sum / value.count : null,
  min: value?.min ?? null,
  max: value?.max ?? null,
});
const counterPoint = (at: number, value: Aggregate | undefined) => ({ at, sum: value?.sum ?? null });
