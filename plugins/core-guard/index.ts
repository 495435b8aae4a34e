import { isAbsolute } from 'node:path';
import Joi from 'joi';
import {
  custom,
  definePlugin,
  Listeners,
  provide,
  singleton,
  variable,
  withDefault,
} from '../../kernel/index.js';
import { CoreGuard } from './contract.js';
import { destinationOf, nameOf } from './destination.js';
import { Guard } from './guard.js';

/** A list, comma-separated in the environment; `problem` returns what is wrong with an entry. */
const listOf = (problem: (entry: string) => string | undefined) =>
  custom<readonly string[]>(
    Joi.any().custom((value: unknown, state) => {
      const given: unknown[] = typeof value === 'string' ? value.split(',') : [value].flat();
      const entries = given.map((entry) => String(entry).trim()).filter(Boolean);
      const wrong = entries.map(problem).find(Boolean);
      return wrong === undefined ? entries : state.error('any.custom', { error: new Error(wrong) });
    }),
  );

export default definePlugin({
  name: 'core-guard',
  version: '0.1.0',
  api: 1,
  // Without it an inbound could lead into the panel, or make the core write any file.
  essential: true,
  about: 'Rejects config with which the core could reach the panel, or files other than certificates.',
  uses: { listeners: Listeners },
  config: {
    fallbackDestinations: variable(
      'WEIR_FALLBACK_DESTINATIONS',
      withDefault(
        listOf((entry) =>
          nameOf(destinationOf(entry))
            ? undefined
            : `"${entry}" is neither host:port nor the path of a socket`,
        ),
        [],
      ),
      'local and private destinations that fallbacks and REALITY may have: host:port or paths of sockets, comma-separated',
    ),
    certificateDirectories: variable(
      'WEIR_CERTIFICATE_DIRS',
      withDefault(
        listOf((entry) => (isAbsolute(entry) ? undefined : `"${entry}" is not an absolute path`)),
        ['/etc/letsencrypt', '/etc/ssl', '/root/cert', '/root/.acme.sh'],
      ),
      'folders, besides the data folder, from which inbounds may take certificates and keys, comma-separated',
    ),
    socketDirectories: variable(
      'WEIR_SOCKET_DIRS',
      withDefault(
        listOf((entry) => (isAbsolute(entry) ? undefined : `"${entry}" is not an absolute path`)),
        ['/run/weir', '/dev/shm'],
      ),
      'folders in which inbounds may listen on Unix sockets, comma-separated',
    ),
  },
  services: { guard: singleton(Guard) },
  provides: ({ guard }) => [provide(CoreGuard, guard)],
});
