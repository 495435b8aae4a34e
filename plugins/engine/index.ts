import { join } from 'node:path';
import {
  afterKernelOpen,
  afterPluginStart,
  beforeKernelStop,
  composeStartupSummary,
  definePlugin,
  job,
  Listeners,
  messageOf,
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
import { CoreGuard } from '../core-guard/contract.js';
import { Processes } from '../processes/contract.js';
import { Accesses } from './accesses.js';
import { Accounts } from './accounts.js';
import {
  beforeCoreReload,
  beforeCoreStop,
  beforeCountersGo,
  composeCoreConfig,
  CoreAccess,
  CoreCheck,
  coreStateChanged,
  Engine,
  usersRemoved,
} from './contract.js';
import { CoreCheck as PluginCheck } from './core-check.js';
import { findOurCore } from './core-places.js';
import { comesFromOurAddress } from './own-address.js';
import { routes } from './routes.js';
import { RELEASES } from './install/release.js';
import { Supervisor } from './supervisor.js';
import { XrayDriver } from './xray/driver.js';

export default definePlugin({
  name: 'engine',
  version: '0.1.0',
  api: 1,
  // Closed after faults it could neither count nor switch anybody off.
  essential: true,
  about:
    'Runs the proxy core: finds, downloads or builds it, starts it, changes it while it serves, takes it over from a former panel.',
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
      'where the releases of the core are, for a mirror',
    ),
    sha256: variable(
      'WEIR_ENGINE_SHA256',
      optional(word().pattern(/^[0-9a-fA-F]{64}$/, 'SHA-256 of 64 hexadecimal digits')),
      'digest of the archive that may be downloaded; wins over the one beside it',
    ),
    private: variable(
      'WEIR_ENGINE_PRIVATE',
      withDefault(oneOf('allow', 'block'), 'block'),
      'allow: users of the core may reach loopback and private addresses',
    ),
    udp: variable(
      'WEIR_ENGINE_UDP',
      withDefault(oneOf('single', 'cone'), 'single'),
      'cone: a UDP session of a user may send to many addresses, which nothing checks',
    ),
  },
  uses: { plugins: Plugins, listeners: Listeners, guard: CoreGuard, processes: Processes },
  hooks: [
    composeCoreConfig,
    beforeCoreReload,
    beforeCoreStop,
    beforeCountersGo,
    coreStateChanged,
    usersRemoved,
  ],
  services: {
    accounts: singleton(Accounts),
    supervisor: singleton(Supervisor),
    accesses: singleton(Accesses),
    check: singleton(PluginCheck),
  },
  provides: ({ supervisor, accesses, check }) => [
    provide(Engine, supervisor),
    provide(CoreAccess, accesses),
    provide(CoreCheck, check),
  ],
  start: ({ listeners, config, log }) => {
    if (config.private === 'allow') return;
    listeners.panel.admitOnly((socket) => {
      const refused = comesFromOurAddress(socket);
      if (refused)
        log.info(
          'the panel refused a connection from a public address of this machine; use a loopback address',
          { from: socket.remoteAddress },
        );
      return !refused;
    });
  },
  taps: ({ supervisor, accounts, processes, config, dataDirectory, log }) => [
    // Everything that describes the core's config has started by now.
    tap(afterKernelOpen, async () => {
      try {
        // Whoever waits for the first start reads it at once, whatever becomes of the log.
        const say = (message: string, data: object = {}) =>
          void process.stderr.write(`${message} ${JSON.stringify(data)}\n`);
        const found = await findOurCore(config, dataDirectory, { info: say, warn: log.warn });
        if ('missing' in found) {
          log.warn('there is no core; the panel runs without one', { reason: found.missing });
          return supervisor.absent(found.missing);
        }
        log.info('core found', { binary: found.binary, source: found.source });
        await supervisor.open(
          new XrayDriver({
            binary: found.binary,
            directory: join(dataDirectory, 'engine'),
            log,
            accounts,
            processes,
          }),
        );
      } catch (error) {
        log.error('the core cannot be used', { reason: messageOf(error) });
        supervisor.absent(messageOf(error));
      }
    }),
    // What one adds that took its time is missing in the config until now.
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
    tap(beforeKernelStop, ({ reason, again }) => supervisor.stop(reason, again), { stage: stage.LATE }),
  ],
  routes,
  jobs: ({ supervisor, accesses }) => [
    job('mend', '5s', () => supervisor.mend()),
    job('accesses', '1s', () => accesses.catchUp()),
    job('trim-logs', '1m', async () => {
      await accesses.catchUp();
      await supervisor.trimLogs();
    }),
  ],
});
