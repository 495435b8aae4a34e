// Computes what the kernel boots with from environment, config file and plugins. Reports the mistakes of the built-in part
// together; a mistake of one third-party plugin is thrown at once, and the panel boots without that plugin.
import type { Configured, PluginConfig, Sources } from '../schema/variable.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { Certificate } from '../net/certificate.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';
import { orderPlugins } from './order.js';
import { bootVariables, panelVariables, environmentOnlyVariables } from './boot-settings.js';
import { CertificateFiles } from './certificate.js';
import { type ConfigFile, panelSection, pluginSection } from './config-file.js';
import { ConfigError, type Environment, readVariables, sourcesOf } from './variables.js';

export interface Configuration {
  /** in start order */
  readonly plugins: readonly Plugin[];
  readonly panel: Configured<typeof panelVariables>;
  /** what sets the panel's own boot settings */
  readonly sources: Sources<typeof bootVariables>;
  /** of the panel's listener; without one it serves plain HTTP */
  readonly certificate: Certificate | undefined;
  readonly configs: ReadonlyMap<string, PluginConfig>;
  /** every variable that something reads */
  readonly known: readonly string[];
}

async function certificateOf(
  { tlsCert, tlsKey }: { tlsCert?: string; tlsKey?: string },
  problems: string[],
): Promise<Certificate | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert !== undefined && tlsKey !== undefined) {
    return CertificateFiles.read(tlsCert, tlsKey).catch((error: unknown) => {
      problems.push(`WEIR_TLS_CERT and WEIR_TLS_KEY (tlsCert, tlsKey): ${messageOf(error)}`);
      return undefined;
    });
  }
  problems.push(
    tlsKey === undefined
      ? 'WEIR_TLS_CERT is set, but WEIR_TLS_KEY is not; set both (or tlsCert and tlsKey in the config file), or neither'
      : 'WEIR_TLS_KEY is set, but WEIR_TLS_CERT is not; set both (or tlsCert and tlsKey in the config file), or neither',
  );
  return undefined;
}

/** Rejects with PluginError as soon as a plugin is found that the panel can boot without; else with ConfigError; with a PluginError without culprit when only the set of built-in plugins is wrong. */
export async function configure(
  chosen: readonly Plugin[],
  env: Environment,
  file: ConfigFile,
  leftOutNames?: ReadonlySet<string>,
): Promise<Configuration> {
  const problems = [...file.problems];
  let plugins = chosen;
  let orderError: PluginError | undefined;
  try {
    plugins = orderPlugins(chosen, leftOutNames);
  } catch (error) {
    if (!(error instanceof PluginError) || error.culprit) throw error;
    orderError = error;
  }
  const panel = {
    ...readVariables('kernel', environmentOnlyVariables, env, problems),
    ...readVariables('kernel', bootVariables, env, problems, panelSection(file)),
  };
  const certificate = await certificateOf(panel, problems);
  const configs = new Map(
    plugins.map((plugin) => {
      const { name, config, outside } = plugin;
      const section = pluginSection(file, name);
      const found: string[] = [];
      const values = readVariables(name, config, env, found, section);
      if (outside && found.length > 0) throw new PluginError(`plugin ${name}: ${found.join('; ')}`, plugin);
      problems.push(...found);
      return [name, { values, sources: sourcesOf(config, env, section) }];
    }),
  );
  if (problems.length > 0) throw new ConfigError(orderError ? [...problems, orderError.message] : problems);
  if (orderError) throw orderError;
  const known = [panelVariables, ...plugins.map(({ config }) => config)].flatMap((variables) =>
    Object.values(variables).map(({ variable }) => variable),
  );
  return {
    plugins,
    panel,
    sources: sourcesOf(bootVariables, env, panelSection(file)),
    certificate,
    configs,
    known,
  };
}
