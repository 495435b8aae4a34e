// Tests outbounds, and says where connections leave.
import { contribute, definePlugin, everywhere, job, maybe, singleton, tap } from '../../kernel/index.js';
import { Clients } from '../clients/contract.js';
import { othersWrote, Panels } from '../cluster/contract.js';
import { CoreGuard } from '../core-guard/contract.js';
import { CoreTemplate } from '../core-template/contract.js';
import {
  CoreOutbounds,
  CorePrograms,
  CoreRoutes,
  beforeRulesInForce,
  coreStateChanged,
} from '../engine/contract.js';
import { LocalInbounds } from '../inbounds/contract.js';
import { Processes } from '../processes/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { Balancers } from './balancers.js';
import { outboundDown, outboundUp } from './contract.js';
import { OverrideStore } from './override-store.js';
import { routes } from './routes.js';
import { outboundSettings } from './settings.js';
import { migrations, tables } from './tables.js';
import { TestCore } from './test-core.js';
import { OutboundTester } from './tester.js';
import { OutboundWatch } from './watch.js';
import { downOutbounds, upOutbounds } from './notified.js';

export default definePlugin({
  name: 'outbounds',
  version: '0.1.0',
  api: 1,
  about: 'Tests outbounds, says where connections leave, and overrides balancers.',
  uses: {
    guard: CoreGuard,
    processes: Processes,
    template: CoreTemplate,
    programs: maybe(CorePrograms),
    configured: maybe(CoreOutbounds),
    coreRoutes: maybe(CoreRoutes),
    clients: maybe(Clients),
    inbounds: maybe(LocalInbounds),
    audit: maybe(AuditTrail),
    panels: maybe(Panels),
  },
  hooks: [outboundDown, outboundUp],
  settings: outboundSettings,
  tables,
  migrations,
  services: {
    core: singleton(TestCore),
    tester: singleton(OutboundTester),
    watch: singleton(OutboundWatch),
    overrides: singleton(OverrideStore),
    balancers: singleton(Balancers),
  },
  // A panel that was killed in a test left files with secrets.
  start: ({ core }) => core.clean(),
  stop: ({ tester }) => tester.stop(),
  contributes: () => [contribute(NotifiedEvents, downOutbounds), contribute(NotifiedEvents, upOutbounds)],
  taps: ({ balancers }) => [
    tap(coreStateChanged, async ({ to }) => {
      if (to === 'running') await balancers.sync();
    }),
    tap(beforeRulesInForce, () => balancers.sync()),
    tap(othersWrote, () => balancers.followOthers()),
  ],
  routes,
  jobs: ({ watch, balancers }) => [
    job('watch', '1m', (signal) => watch.runWhenDue(signal)),
    // Events may be lost. Each panel has its own core.
    everywhere(job('overrides', '30s', () => balancers.sync())),
  ],
});
