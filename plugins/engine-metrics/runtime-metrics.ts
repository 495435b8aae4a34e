// Samples the runtime of the core: its memory and its garbage collections.
import { bool, messageOf, shape, type Static, text } from '../../kernel/index.js';
import type { CoreMonitorApi, CoreRuntime, EngineApi } from '../engine/contract.js';
import type { TimeSeriesApi } from '../time-series/contract.js';
import { type Metric, METRICS, metricSeries } from './series.js';

export const StateReply = shape({
  enabled: bool().description('whether the figures of a running core are recorded'),
  listen: text().description('always empty: they are read over the API of the core, which opens no port'),
  reason: text().description('why they are not recorded; empty while they are'),
});

interface Needs {
  readonly engine: EngineApi;
  readonly monitor: CoreMonitorApi | undefined;
  readonly series: TimeSeriesApi | undefined;
}

export class RuntimeMetrics {
  readonly #needs: Needs;
  /** of the last sample; undefined while no core runs */
  #last: CoreRuntime | undefined;
  #pauseNs = 0;
  /** why the last sample failed; empty when it did not */
  #failure = '';

  constructor({ engine, monitor, series }: Needs) {
    this.#needs = { engine, monitor, series };
  }

  state(): Static<typeof StateReply> {
    const { state, errorMsg } = this.#needs.engine.status();
    const reason =
      this.#needs.monitor === undefined
        ? 'the engine says nothing about its core'
        : state !== 'running'
          ? `the core does not run${errorMsg && `: ${errorMsg}`}`
          : this.#failure;
    return { enabled: reason === '', listen: '', reason };
  }

  /** Records a sample; none without a core that answers. Never rejects. Resolves with the epoch of the core. */
  async sample(): Promise<string | undefined> {
    const { monitor, series } = this.#needs;
    this.#failure = '';
    const runtime = await monitor?.runtime().catch((error: unknown) => {
      this.#failure = messageOf(error);
      return undefined;
    });
    if (!runtime) {
      this.#failure ||= 'the core does not answer';
      this.#last = undefined;
      return undefined;
    }
    this.#pauseNs = this.#pauseOf(runtime);
    this.#last = runtime;
    const values: Readonly<Record<Metric, number>> = {
      xrAlloc: runtime.heapBytes,
      xrSys: runtime.systemBytes,
      xrHeapObjects: runtime.liveObjects,
      xrNumGC: runtime.collections,
      xrPauseNs: this.#pauseNs,
    };
    for (const metric of METRICS) series?.add(metricSeries[metric], values[metric]);
    return runtime.epoch;
  }

  /** The mean pause of the collections since the last sample; without any, that of the ones before. The core says only the sum of all. */
  #pauseOf({ epoch, collections, pausedNs }: CoreRuntime): number {
    const last = this.#last?.epoch === epoch ? this.#last : { collections: 0, pausedNs: 0 };
    const count = collections - last.collections;
    if (count > 0) return (pausedNs - last.pausedNs) / count;
    return this.#last?.epoch === epoch ? this.#pauseNs : 0;
  }
}
