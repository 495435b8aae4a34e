// The name of this panel among several on one database, if it has one.
import type { Configuration } from './configure.js';
import { ConfigError } from './variables.js';

const configured = (configs: Configuration['configs'], plugin: string, name: string): unknown =>
  (configs.get(plugin)?.values as Readonly<Record<string, unknown>> | undefined)?.[name];

/** Throws where this panel could not read what another one encrypts. */
export function memberName(configs: Configuration['configs']): string | undefined {
  const name = configured(configs, 'cluster', 'name') as string | undefined;
  if (name !== undefined && configured(configs, 'secrets', 'secretKey') === undefined)
    throw new ConfigError([
      'WEIR_CLUSTER needs WEIR_SECRET_KEY, the same for all panels of the database: each must be able to read what another one encrypts',
    ]);
  return name;
}
