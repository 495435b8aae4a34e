import {
  definePlugin,
  int,
  maybe,
  message,
  nullable,
  once,
  payload,
  raw,
  route,
  shape,
  singleton,
  tap,
  text,
} from '../../kernel/index.js';
import { BLOCKED, loginAttempted } from '../access/contract.js';
import { Alarms } from '../alarms/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { Clients } from '../clients/contract.js';
import { Panels } from '../cluster/contract.js';
import { coreStateChanged, Engine } from '../engine/contract.js';
import { Inbounds, LocalInbounds } from '../inbounds/contract.js';
import { ServerStatus } from '../server-status/contract.js';
import { clientDepleted, Presence, trafficCounted } from '../traffic/contract.js';
import { Metrics } from './contract.js';
import { Counted } from './counted.js';
import { errors } from './errors.js';
import { Exposition } from './exposition.js';
import { hostMetrics } from './host-metrics.js';
import { PanelMetrics } from './panel-metrics.js';
import { ProcessMetrics } from './process-metrics.js';
import { ScrapeToken } from './scrape-token.js';
import { metricSettings } from './settings.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'metrics',
  version: '0.1.0',
  api: 1,
  about: 'Shows metrics to Prometheus.',
  uses: {
    engine: Engine,
    clients: Clients,
    inbounds: Inbounds,
    localInbounds: LocalInbounds,
    presence: Presence,
    status: maybe(ServerStatus),
    alarms: maybe(Alarms),
    audit: maybe(AuditTrail),
    panels: maybe(Panels),
  },
  settings: metricSettings,
  tables,
  migrations,
  services: {
    token: singleton(ScrapeToken),
    exposition: singleton(Exposition),
    counted: singleton(Counted),
    panel: singleton(PanelMetrics),
    process: singleton(ProcessMetrics),
  },
  taps: ({ counted }) => [
    tap(trafficCounted, ({ at, usage }) => counted.poll(at, usage)),
    tap(clientDepleted, ({ clients }) => {
      for (const { cause } of clients) counted.depleted[cause]++;
    }),
    tap(coreStateChanged, ({ to }) => {
      if (to === 'error') counted.coreFailures++;
    }),
    tap(loginAttempted, ({ attempts }) => {
      for (const { ok, reason } of attempts)
        counted.logins[ok ? 'ok' : reason === BLOCKED ? 'blocked' : 'failed']++;
    }),
  ],
  routes: ({ token, exposition, counted, panel, process, status, contributions }) => [
    route({
      method: 'GET',
      path: '/metrics',
      name: 'metrics.scrape',
      auth: 'anyone',
      doc: 'Metrics in the text format of Prometheus. It accepts its own token only, as `Authorization: Bearer`.',
      reply: raw('text/plain'),
      errors: [errors.TOKEN],
      handle: async ({ headers, reply }) => {
        if (!token.admits(headers.authorization))
          throw errors.TOKEN(undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
        const own = [...process.list(), ...hostMetrics(status), ...panel.list(), ...counted.list()];
        const sources = own.map((value) => ({ value, fault: () => undefined }));
        reply.header('Content-Type', exposition.contentType);
        reply.header('Cache-Control', 'no-store');
        return exposition.text([...sources, ...contributions(Metrics)]);
      },
    }),
    route({
      method: 'GET',
      path: '/panel/api/x/metrics/token',
      name: 'metrics.token',
      doc: 'Whether /metrics has a token: Unix ms of its creation, or null. Without one nobody can read /metrics.',
      reply: payload(shape({ createdAt: nullable(int()) })),
      handle: () => ({ createdAt: token.createdAt ?? null }),
    }),
    route({
      method: 'POST',
      path: '/panel/api/x/metrics/token',
      name: 'metrics.createToken',
      doc: 'Creates the token of /metrics, in place of the previous one. It is shown here and never again.',
      reply: payload(shape({ token: text() })),
      handle: (input) => once(input, async (note) => ({ token: await token.create(input.who, note) })),
    }),
    route({
      method: 'DELETE',
      path: '/panel/api/x/metrics/token',
      name: 'metrics.deleteToken',
      doc: 'Deletes the token of /metrics, so that nobody can read it.',
      reply: message(),
      handle: ({ who }) => token.remove(who),
    }),
  ],
  start: ({ process }) => process.start(),
  stop: ({ process }) => process.stop(),
});
