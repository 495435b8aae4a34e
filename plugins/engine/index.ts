import { join } from 'node:path';
import { afterKernelOpen, beforeKernelStop, composeReadyLine, definePlugin, job, messageOf, oneOf, optional, provide, singleton, stage, tap, variable, withDefault, word } from '../../kernel/index.js';
import { Engine } from './contract.js';
import { findCore } from './install/find.js';
import { routes } from './routes.js';
import { Supervisor } from './supervisor.js';
import { XrayDriver } from './xray/driver.js';

export default definePlugin({
  name: 'engine',
  version: '0.1.0',
  api: 1,
  // Closed after faults it could neither count nor switch anybody off.
  essential: true,
  about: 'Runs the proxy core: finds or builds it, starts it, changes it while it serves, takes it over from a former panel.',
  config: {
    binary: variable('WEIR_ENGINE_BIN', optional(word()), 'the core to use instead of one that is found or built'),
    install: variable('WEIR_ENGINE_INSTALL', withDefault(oneOf('on', 'off'), 'on'), 'off: never build a core'),
    private: variable('WEIR_ENGINE_PRIVATE', withDefault(oneOf('allow', 'block'), 'block'), 'allow: users of the core may reach loopback and private addresses'),
  },
  services: { supervisor: singleton(Supervisor) },
  provides: ({ supervisor }) => [provide(Engine, supervisor)],
  hooks: ({ supervisor, config, dataDirectory, log }) => [
    // Everything that describes the core's config has started by now.
    tap(afterKernelOpen, async () => {
      try {
        const found = await findCore({ env: { ...process.env, WEIR_ENGINE_BIN: config.binary, WEIR_ENGINE_INSTALL: config.install }, dataDirectory, log });
        if ('missing' in found) {
          log.warn('there is no core; the panel runs without one', { reason: found.missing });
          return supervisor.absent(found.missing);
        }
        log.info('core found', { binary: found.binary, source: found.source });
        await supervisor.open(new XrayDriver({ binary: found.binary, directory: join(dataDirectory, 'engine'), log }));
      } catch (error) {
        log.error('the core cannot be used', { reason: messageOf(error) });
        supervisor.absent(messageOf(error));
      }
    }),
    tap(composeReadyLine, (add) => {
      const { state, errorMsg } = supervisor.status();
      add({ engine: state === 'running' ? 'running' : state === 'stop' ? 'absent' : 'failed', ...(errorMsg && { engineProblem: errorMsg }) });
    }),
    tap(beforeKernelStop, ({ reason }) => supervisor.stop(reason), { stage: stage.LATE }),
  ],
  routes,
  jobs: ({ supervisor }) => [job('mend', '5s', () => supervisor.mend()), job('trim-logs', '1m', () => supervisor.trimLogs())],
});
