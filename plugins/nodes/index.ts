// Other panels that this one manages: records, trust, status. And this panel as such a node: who may call it, and for what.
import {
  authenticate,
  contribute,
  definePlugin,
  job,
  maybe,
  provide,
  singleton,
  tap,
  validate,
} from '../../kernel/index.js';
import { CallerRights, TokenKinds } from '../access/contract.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, AuditTrail } from '../audit/contract.js';
import { afterClientSave, Clients } from '../clients/contract.js';
import { Panels } from '../cluster/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { PanelIdentity, PanelListener } from '../settings/contract.js';
import { TimeSeries } from '../time-series/contract.js';
import { clientDepleted, clientRenewed, clientTrafficReset, trafficReset } from '../traffic/contract.js';
import { nodesPart } from './archive-part.js';
import { NodeCaller } from './calls/node-caller.js';
import { RemoteTools } from './calls/remote-tools.js';
import {
  afterNodeSave,
  beforeNodeDelete,
  duringNodeSave,
  NodeArrivals,
  Nodes,
  nodesFlipped,
} from './contract.js';
import { errors } from './errors.js';
import { NodeBody } from './fields.js';
import { Figures } from './figures.js';
import { KeptCounts } from './kept-counts.js';
import { AuthorityStore, authorityKeys, clientKeys } from './mtls/authority-store.js';
import { ClientCertificates } from './mtls/client-certificates.js';
import { mtlsRoutes } from './mtls/mtls-routes.js';
import { CentralRights } from './mtls/node-routes.js';
import { TrustedCentrals } from './mtls/trusted-centrals.js';
import { NodeList } from './node-list.js';
import { NodeLive } from './node-live.js';
import { NodeService } from './node-service.js';
import { nodeTokens, NodeStore } from './node-store.js';
import { downNodes, upNodes } from './notified.js';
import { nodes as recorded } from './recorded.js';
import { routes } from './routes.js';
import { nodeSettings } from './settings.js';
import { Descendants } from './status/descendants.js';
import { Heartbeat, HEARTBEAT_EVERY } from './status/heartbeat.js';
import { declaredSeries, NodeHistory } from './status/history.js';
import { NodeStates } from './status/node-states.js';
import { Prober } from './status/prober.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'nodes',
  version: '0.1.0',
  api: 1,
  about: 'Other panels that this one manages: records, trust and status.',
  uses: {
    outgoing: Outgoing,
    secrets: Secrets,
    identity: PanelIdentity,
    listener: maybe(PanelListener),
    series: maybe(TimeSeries),
    inbounds: maybe(Inbounds),
    clients: maybe(Clients),
    audit: maybe(AuditTrail),
    panels: maybe(Panels),
    callers: maybe(CallerRights),
  },
  hooks: [beforeNodeDelete, duringNodeSave, afterNodeSave, nodesFlipped],
  settings: nodeSettings,
  tables,
  migrations,
  services: {
    states: singleton(NodeStates),
    store: singleton(NodeStore),
    authorities: singleton(AuthorityStore),
    certificates: singleton(ClientCertificates),
    centrals: singleton(TrustedCentrals),
    rights: singleton(CentralRights),
    caller: singleton(NodeCaller),
    prober: singleton(Prober),
    descendants: singleton(Descendants),
    history: singleton(NodeHistory),
    live: singleton(NodeLive),
    keptCounts: singleton(KeptCounts),
    figures: singleton(Figures),
    heartbeat: singleton(Heartbeat),
    nodes: singleton(NodeList),
    service: singleton(NodeService),
    tools: singleton(RemoteTools),
  },
  provides: ({ nodes, service }) => [
    provide(Nodes, nodes),
    provide(NodeArrivals, {
      add: async (node, who) => service.adopt(validate(NodeBody, node), who),
      check: (node) => void service.disabled(validate(NodeBody, node)),
    }),
  ],
  contributes: ({ caller, live, nodes, rights, store }) => [
    contribute(ArchiveParts, nodesPart({ store, live })),
    contribute(OutgoingHosts, caller.access),
    contribute(OutgoingHosts, caller.briefAccess),
    contribute(SealedColumns, nodeTokens),
    contribute(SealedColumns, authorityKeys),
    contribute(SealedColumns, clientKeys),
    contribute(AuditedHooks, recorded),
    contribute(NotifiedEvents, downNodes),
    contribute(NotifiedEvents, upNodes),
    contribute(
      LiveTypes,
      live.type(() => nodes.shown()),
    ),
    contribute(TokenKinds, { kind: 'node', mayCall: rights.mayCall }),
    ...declaredSeries(),
  ],
  taps: ({ centrals, rights, keptCounts }) => [
    tap(afterClientSave, ({ changes }) => keptCounts.changed(changes)),
    tap(clientDepleted, () => keptCounts.clear()),
    tap(clientRenewed, () => keptCounts.clear()),
    tap(clientTrafficReset, () => keptCounts.clear()),
    tap(trafficReset, () => keptCounts.clear()),
    tap(authenticate, ({ authorization, request }) => {
      // A token says more than the certificate of the connection.
      if (/^bearer\b/i.test(authorization ?? '')) return undefined;
      const name = centrals.callerOf(request);
      if (name === undefined) return undefined;
      const { method = '', url = '' } = request;
      const path = url.split('?', 1)[0] ?? '';
      if (!rights.mayCall(method, path)) throw errors.ROUTE(`a central panel may not call ${method} ${path}`);
      return { name, kind: 'node' };
    }),
  ],
  routes: (scope) => [...routes(scope), ...mtlsRoutes(scope)],
  jobs: ({ heartbeat, states, store, authorities }) => [
    job('heartbeat', HEARTBEAT_EVERY, (signal) => heartbeat.run(signal)),
    job('states', '1m', () => states.flush((id) => store.find(id) !== undefined)),
    job('certificates', '1h', () => authorities.renew()),
  ],
  start: async ({ states, centrals }) => {
    await states.load();
    await centrals.start();
  },
  // Another panel knows better what it has asked.
  stop: async ({ states, store, panels }) => {
    if (panels?.leads !== false) await states.flush((id) => store.find(id) !== undefined);
  },
});
