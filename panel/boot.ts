// Boots the kernel with what environment and config file say; without a plugin that fails, where the panel can do without it.
import { resolve } from 'node:path';
import { isLoopback } from '../net/host-name.js';
import { Kernel } from '../kernel/kernel.js';
import type { KernelOptions } from '../kernel/options.js';
import { createLog } from './log.js';
import type { Plugin } from '../kernel/plugin/define.js';
import type { LeftOut } from '../kernel/plugin/plugins.js';
import { PluginError } from '../kernel/plugin/error.js';
import { type ConfigFile, noFile } from './config-file.js';
import { configure } from './configure.js';
import { makePrivate } from './private-folder.js';
import { type Environment, unknownVariables } from './variables.js';

export interface BootOptions
  extends Pick<KernelOptions, 'begun' | 'clock' | 'forCommand' | 'limits' | 'provides' | 'strict'> {
  /** in any order */
  readonly plugins: readonly Plugin[];
  /** what was to run and could not even be loaded */
  readonly leftOut?: readonly LeftOut[];
  readonly env: Environment;
  /** what a config file says; none by default */
  readonly file?: ConfigFile;
  /** where lines of the log go; by default to standard output */
  readonly write?: (line: string) => void;
  readonly readable?: boolean;
}

/** Resolves when everything runs but what had to be left out. Rejects with ConfigError, PluginError or the first failure of an essential start; nothing is left open then. */
export async function bootPanel(options: BootOptions): Promise<Kernel> {
  const leftOut = [...(options.leftOut ?? [])];
  // Of a plugin that fails nothing may stay behind, so the boot begins anew without it.
  for (let { plugins } = options; ; ) {
    try {
      return await attempt({ ...options, plugins, leftOut });
    } catch (error) {
      const culprit = error instanceof PluginError ? error.culprit : undefined;
      if (!culprit || culprit.essential) throw error;
      const { name, version, about, outside = false } = culprit;
      const { message: reason, cause } = error as PluginError;
      leftOut.push({ name, version, about, outside, reason, ...(cause !== undefined && { error: cause }) });
      plugins = plugins.filter((plugin) => plugin !== culprit);
    }
  }
}

async function attempt(options: BootOptions & { readonly leftOut: readonly LeftOut[] }): Promise<Kernel> {
  const {
    env,
    file = noFile,
    readable = false,
    write = (line) => process.stdout.write(line),
    leftOut,
  } = options;
  const { plugins, panel, certificate, configs, known } = await configure(
    options.plugins,
    env,
    file,
    new Set(leftOut.map(({ name }) => name)),
  );
  const log = createLog({ level: panel.logLevel, readable, write });
  for (const name of unknownVariables(env, known))
    log.warn('no plugin that is on knows this variable; is it misspelt?', { variable: name });
  if (!certificate && !isLoopback(panel.host))
    log.warn(
      'passwords and cookies of the panel travel in the clear: set WEIR_TLS_CERT and WEIR_TLS_KEY, or put a proxy with TLS before it and WEIR_HOST on 127.0.0.1',
      { host: panel.host },
    );
  const dataDirectory = resolve(panel.dataDirectory);
  await makePrivate(dataDirectory, log);
  return Kernel.boot({
    ...options,
    ...panel,
    dataDirectory,
    plugins,
    certificate,
    configs,
    log,
  });
}
