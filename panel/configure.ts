// Computes what the kernel boots with from environment, config file and plugins. Reports the mistakes of the built-in part
// together; a mistake of one third-party plugin is thrown at once, and the panel boots without that plugin.
import { lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Configured, PluginConfig, Sources } from '../schema/variable.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';
import { type CertificatePaths, panelFiles } from '../plugins/certificates/contract.js';
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
  readonly certificate: CertificateFiles | undefined;
  /** absolute; blank without one */
  readonly certificateFiles: CertificatePaths;
  readonly configs: ReadonlyMap<string, PluginConfig>;
  /** every variable that something reads */
  readonly known: readonly string[];
}

/** The files to which the plugin `certificates` leads the panel; without them it serves plain HTTP. */
async function issuedFiles(dataDirectory: string): Promise<CertificatePaths | undefined> {
  const files = panelFiles(resolve(dataDirectory));
  // The link is what counts: a panel that was told to serve HTTPS does not fall back to plain HTTP when a file is gone.
  const isThere = await lstat(dirname(files.certificate)).catch(() => undefined);
  return isThere && files;
}

const absolute = (path: string | undefined): string => (path === undefined ? '' : resolve(path));

async function certificateOf(
  { tlsCert, tlsKey }: { tlsCert?: string; tlsKey?: string },
  issued: CertificatePaths | undefined,
  problems: string[],
): Promise<CertificateFiles | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) {
    if (!issued) return undefined;
    return CertificateFiles.read(issued.certificate, issued.key).catch((error: unknown) => {
      problems.push(
        `the certificate of the panel: ${messageOf(error)}; to start without HTTPS, remove ${dirname(issued.certificate)}`,
      );
      return undefined;
    });
  }
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
  const hasOwn = panel.tlsCert !== undefined || panel.tlsKey !== undefined;
  const issued = hasOwn ? undefined : await issuedFiles(panel.dataDirectory);
  const certificate = await certificateOf(panel, issued, problems);
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
    certificateFiles: issued ?? { certificate: absolute(panel.tlsCert), key: absolute(panel.tlsKey) },
    configs,
    known,
  };
}
