import {
  definePlugin,
  everywhere,
  job,
  maybe,
  payload,
  provide,
  route,
  shape,
  singleton,
  text,
} from '../../kernel/index.js';
import { CoreShown, Engine } from '../engine/contract.js';
import { LocalInbounds } from '../inbounds/contract.js';
import { PanelIdentity, PanelListener } from '../settings/contract.js';
import { RunningSidecars } from '../sidecars/contract.js';
import { TimeSeries } from '../time-series/contract.js';
import { Presence } from '../traffic/contract.js';
import { ServerStatus } from './contract.js';
import {
  Bucket,
  CpuHistoryReply,
  declaredSeries,
  HistoryReply,
  MachineHistory,
  MetricName,
} from './history.js';
import { Machine } from './machine.js';
import { StatusReply, StatusReport, VERSION } from './status.js';

export default definePlugin({
  name: 'server-status',
  version: VERSION,
  api: 1,
  about: 'Shows the status of the machine and the core.',
  uses: {
    engine: Engine,
    core: maybe(CoreShown),
    inbounds: maybe(LocalInbounds),
    identity: PanelIdentity,
    series: maybe(TimeSeries),
    presence: maybe(Presence),
    listener: maybe(PanelListener),
    sidecars: maybe(RunningSidecars),
  },
  services: {
    machine: singleton(Machine),
    report: singleton(StatusReport),
    history: singleton(MachineHistory),
  },
  provides: ({ report }) => [provide(ServerStatus, report)],
  contributes: declaredSeries,
  routes: ({ report, history, listener }) => [
    route({
      method: 'GET',
      path: '/panel/api/server/status',
      name: 'server.status',
      doc: 'Load, memory, disk, network and the state of the core.',
      reply: payload(StatusReply),
      handle: () => report.status(),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/getWebCertFiles',
      name: 'server.getWebCertFiles',
      doc: 'Paths of the certificate and the key with which the panel serves HTTPS; blank when it serves plain HTTP.',
      reply: payload(shape({ webCertFile: text(), webKeyFile: text() })),
      handle: () => {
        const { certificate = '', key = '' } = listener?.certificateFiles ?? {};
        return { webCertFile: certificate, webKeyFile: key };
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/history/{metric}/{bucket}',
      doc: 'The last sixty points of a metric, oldest first, as means over `bucket` seconds; points without a sample are left out. Empty where the plugin time-series is off.',
      params: shape({ metric: MetricName(), bucket: Bucket() }),
      reply: payload(HistoryReply),
      handle: ({ params }) => history.last(params.metric, params.bucket),
    }),
    route({
      method: 'GET',
      path: '/panel/api/server/cpuHistory/{bucket}',
      doc: 'The same for the load of the processors in percent.',
      params: shape({ bucket: Bucket() }),
      reply: payload(CpuHistoryReply),
      handle: async ({ params }) =>
        (await history.last('cpu', params.bucket)).map(({ t, v }) => ({ t, cpu: v })),
    }),
  ],
  jobs: ({ machine, history }) => [
    everywhere(job('sample', '2s', async () => history.record(await machine.sample()))),
  ],
});
