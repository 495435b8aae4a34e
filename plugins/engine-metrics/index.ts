// Shows how the core and its outbounds are, now and over time.
import { definePlugin, job, maybe, payload, route, shape, singleton, word } from '../../kernel/index.js';
import { CoreMonitor, Engine } from '../engine/contract.js';
import { TimeSeries } from '../time-series/contract.js';
import { errors } from './errors.js';
import { Observatory, ObservatoryReply } from './observatory.js';
import { RuntimeMetrics, StateReply } from './runtime-metrics.js';
import {
  Bucket,
  declaredSeries,
  HistoryReply,
  lastPoints,
  LONGEST_TAG,
  MetricName,
  metricSeries,
} from './series.js';

export default definePlugin({
  name: 'engine-metrics',
  version: '0.1.0',
  api: 1,
  about: 'Records the memory of the core and the delays of its outbounds, for charts.',
  uses: { engine: Engine, monitor: maybe(CoreMonitor), series: maybe(TimeSeries) },
  services: { runtime: singleton(RuntimeMetrics), observatory: singleton(Observatory) },
  contributes: declaredSeries,
  routes: ({ runtime, observatory, series: store, clock }) => [
    route({
      method: 'GET',
      path: '/panel/api/server/engineMetricsState',
      name: 'server.engineMetricsState',
      doc: 'Whether the figures of the core are recorded, and why not.',
      reply: payload(StateReply),
      handle: () => runtime.state(),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/engineMetricsHistory/{metric}/{bucket}',
      name: 'server.engineMetricsHistory',
      doc: 'The last sixty points of a metric, oldest first, as means over `bucket` seconds; points without a sample, as while no core ran, are left out. `xrAlloc` and `xrSys` are bytes, `xrPauseNs` is the mean pause of the latest garbage collections. Empty where the plugin time-series is off.',
      params: shape({ metric: MetricName(), bucket: Bucket() }),
      reply: payload(HistoryReply),
      handle: ({ params }) => lastPoints({ store, clock }, metricSeries[params.metric], params.bucket),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/engineObservatory',
      name: 'server.engineObservatory',
      doc: 'The last probes of the outbounds that the core observes, by tag; empty while no core runs, and where its config has no observatory.',
      reply: payload(ObservatoryReply),
      handle: () => observatory.observed(),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/engineObservatoryHistory/{tag}/{bucket}',
      name: 'server.engineObservatoryHistory',
      doc: 'The last sixty delays of an outbound in ms, as in engineMetricsHistory; there is no point while it is not alive. 404 for an outbound that is not observed and has no history.',
      params: shape({ tag: word().max(LONGEST_TAG).example('direct'), bucket: Bucket() }),
      reply: payload(HistoryReply),
      errors: [errors.UNKNOWN_TAG],
      handle: ({ params }) => observatory.history(params.tag, params.bucket),
    }),
  ],
  jobs: ({ runtime, observatory }) => [
    job('sample', '2s', async () => observatory.sample(await runtime.sample())),
  ],
});
