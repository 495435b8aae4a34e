import {
  contribute,
  afterKernelLead,
  afterKernelOpen,
  Cluster,
  afterPluginStart,
  beforeKernelStop,
  composeStartupSummary,
  definePlugin,
  everywhere,
  job,
  Listeners,
  maybe,
  oneOf,
  optional,
  Plugins,
  provide,
  singleton,
  stage,
  tap,
  variable,
  withDefault,
  word,
} from '../../kernel/index.js';
import { beforeLeadEnds, othersWrote, Panels, SharedFigures } from '../cluster/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { CoreGuard } from '../core-guard/contract.js';
import { Processes } from '../processes/contract.js';
import { Accesses } from './logs/accesses.js';
import { Online } from './logs/online.js';
import { Accounts } from './users/accounts.js';
import { ConfiguredOutbounds } from './config/configured-outbounds.js';
import { ConnectionLog } from './logs/connection-log.js';
import { AfterOutage } from './life/after-outage.js';
import {
  beforeCoreReload,
  beforeCoreStop,
  beforeCountersGo,
  composeCoreConfig,
  CoreAccess,
  UserReach,
  CoreOnline,
  CoreCheck,
  CoreLog,
  coreDrifted,
  coreMemoryHigh,
  CoreRoutes,
  CoreShown,
  beforeRulesInForce,
  CoreMonitor,
  CorePrograms,
  CoreOutbounds,
  coreStateChanged,
  Engine,
  usersRemoved,
} from './contract.js';
import { Invariants } from '../invariants/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { HangWatch } from './life/hang-watch.js';
import { coreHasUsers } from './invariants.js';
import { MemoryWatch } from './life/memory-watch.js';
import { Monitor } from './life/monitor.js';
import { PluginConfigCheck } from './config/plugin-config-check.js';
import { comesFromOurAddress } from './own-address.js';
import { logLimits, logSettings } from './logs/log-settings.js';
import { routes } from './routes.js';
import { RunningRoutes } from './apply/running-routes.js';
import { ChosenProgram } from './life/chosen-program.js';
import { RELEASES } from './install/release.js';
import { ShownStatus } from './shown-status.js';
import { engineSettings } from './settings.js';
import { Supervisor } from './life/supervisor.js';
import { coreStates, coreCrash, coreMemory, coreDrift } from './notified.js';

const ELSEWHERE = 'another panel of this database runs the core';

export default definePlugin({
  name: 'engine',
  version: '0.1.0',
  api: 1,
  // If it were disabled after faults, nothing would count bytes or apply limits.
  essential: true,
  about:
    'Runs the proxy core: finds, downloads or builds it, starts it, changes it while it serves, adopts it after a restart of the panel.',
  config: {
    binary: variable(
      'WEIR_ENGINE_BIN',
      optional(word()),
      'the core to use instead of one that is found, downloaded or built',
    ),
    install: variable(
      'WEIR_ENGINE_INSTALL',
      withDefault(oneOf('on', 'off'), 'on'),
      'off: never download or build a core',
    ),
    releases: variable(
      'WEIR_ENGINE_URL',
      withDefault(word().uri({ scheme: ['http', 'https'] }), RELEASES),
      'address of the releases of the core, for a mirror',
    ),
    sha256: variable(
      'WEIR_ENGINE_SHA256',
      optional(word().pattern(/^[0-9a-fA-F]{64}$/, 'SHA-256 of 64 hexadecimal digits')),
      'digest of the archive to download; takes precedence over the published one',
    ),
    private: variable(
      'WEIR_ENGINE_PRIVATE',
      withDefault(oneOf('allow', 'block'), 'block'),
      'allow: users of the core may reach loopback and private addresses',
    ),
    udp: variable(
      'WEIR_ENGINE_UDP',
      withDefault(oneOf('single', 'cone'), 'single'),
      'cone: a UDP session of a user may send to many addresses, which are not checked',
    ),
  },
  uses: {
    plugins: Plugins,
    listeners: Listeners,
    guard: CoreGuard,
    processes: Processes,
    audit: maybe(AuditTrail),
    cluster: maybe(Cluster),
    panels: maybe(Panels),
  },
  hooks: [
    composeCoreConfig,
    beforeCoreReload,
    beforeCoreStop,
    beforeCountersGo,
    coreStateChanged,
    coreDrifted,
    beforeRulesInForce,
    usersRemoved,
    coreMemoryHigh,
  ],
  settings: { ...engineSettings, ...logSettings },
  services: {
    accounts: singleton(Accounts),
    supervisor: singleton(Supervisor),
    afterOutage: singleton(AfterOutage),
    accesses: singleton(Accesses),
    online: singleton(Online),
    connectionLog: singleton(ConnectionLog),
    check: singleton(PluginConfigCheck),
    hangWatch: singleton(HangWatch),
    memoryWatch: singleton(MemoryWatch),
    monitor: singleton(Monitor),
    programs: singleton(ChosenProgram),
    outbounds: singleton(ConfiguredOutbounds),
    runningRoutes: singleton(RunningRoutes),
    shown: singleton(ShownStatus),
  },
  provides: ({
    supervisor,
    accesses,
    online,
    connectionLog,
    check,
    monitor,
    programs,
    outbounds,
    runningRoutes,
    shown,
    config,
  }) => [
    provide(UserReach, { private: config.private }),
    provide(CoreRoutes, runningRoutes),
    provide(Engine, supervisor),
    provide(CoreShown, shown),
    provide(CoreAccess, accesses),
    provide(CoreOnline, online),
    provide(CoreLog, connectionLog),
    provide(CoreCheck, check),
    provide(CoreMonitor, monitor),
    provide(CorePrograms, programs),
    provide(CoreOutbounds, outbounds),
  ],
  contributes: ({ supervisor, accounts, shown }) => [
    contribute(SharedFigures, shown),
    contribute(NotifiedEvents, coreStates),
    contribute(NotifiedEvents, coreCrash),
    contribute(NotifiedEvents, coreMemory),
    contribute(NotifiedEvents, coreDrift),
    contribute(
      Invariants,
      coreHasUsers({ running: () => supervisor.reader && supervisor.parts(), accounts }),
    ),
  ],
  start: ({ listeners, config, log }) => {
    if (config.private === 'allow') return;
    listeners.panel.admitOnly((socket) => {
      const refused = comesFromOurAddress(socket);
      if (refused)
        log.info(
          'the panel refused a connection of this machine to its public address; use a loopback address',
          { from: socket.remoteAddress, to: socket.localAddress },
        );
      return !refused;
    });
  },
  taps: ({ supervisor, programs, cluster, panels }) => [
    // All plugins that add to the core's config have started by now.
    tap(afterKernelLead, () => (panels?.hasOwnCore ? undefined : programs.open())),
    tap(afterKernelOpen, async () => {
      if (panels?.hasOwnCore) return programs.open();
      if (!cluster || cluster.leads) return;
      supervisor.absent(ELSEWHERE);
      // Alone, this panel leads as soon as the lease of its last start is over, and adopts the core.
      if (panels && panels.count > 1) await programs.stopLeft(ELSEWHERE);
    }),
    tap(beforeLeadEnds, () => (panels?.hasOwnCore ? undefined : supervisor.stop(ELSEWHERE)), {
      stage: stage.LATE,
    }),
    tap(othersWrote, async () => {
      await supervisor.reconcileConfig();
    }),
    // A plugin that started late is not in the config yet.
    tap(afterPluginStart, async ({ hooks }) => {
      if (hooks.includes(composeCoreConfig.id)) await supervisor.reconcileConfig();
    }),
    tap(composeStartupSummary, (add) => {
      const { state, errorMsg } = supervisor.status();
      add({
        engine: state === 'running' ? 'running' : state === 'stop' ? 'absent' : 'failed',
        ...(errorMsg && { engineProblem: errorMsg }),
      });
    }),
    tap(
      beforeKernelStop,
      ({ reason, again }) =>
        supervisor.stop(reason, again || (panels?.hasOwnCore === true && panels.startsAgain)),
      { stage: stage.LATE },
    ),
  ],
  routes,
  // Where no core runs they do nothing.
  jobs: ({ supervisor, accesses, afterOutage, hangWatch, memoryWatch, settings }) =>
    [
      job('retry', '5s', async () => {
        await afterOutage.check();
        await supervisor.retryPending();
      }),
      job('watch-answers', '3s', () => hangWatch.check()),
      job('watch-memory', '5s', () => memoryWatch.check()),
      job('accesses', '1s', () => accesses.catchUp()),
      job('drift', '1m', () => supervisor.checkDrift()),
      job('trim-logs', '10s', async () => {
        await accesses.catchUp();
        await supervisor.trimLogs(logLimits(settings.read()));
      }),
    ].map(everywhere),
});
