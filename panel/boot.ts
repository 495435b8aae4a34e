// Boots the kernel with environment and config file. A failing plugin that is not essential is left out.
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '../net/host-name.js';
import { provide } from '../kernel/container/token.js';
import { Kernel } from '../kernel/kernel.js';
import type { KernelOptions } from '../kernel/options.js';
import { DatabaseClock, isAway, isBusy, OldestBeside, SharedClock } from '../plugins/cluster/contract.js';
import { PanelListener, type PanelListenerApi } from '../plugins/settings/contract.js';
import { PanelLog as LogToken } from '../plugins/panel-logs/contract.js';
import { createLog } from './log.js';
import { LogBuffer } from './log-buffer.js';
import { PanelDatabase as DatabaseToken } from '../plugins/backup/contract.js';
import { PanelDatabase } from './panel-database.js';
import { PanelLog } from './panel-log.js';
import type { Plugin } from '../kernel/plugin/define.js';
import type { LeftOut } from '../kernel/plugin/plugins.js';
import { PluginError } from '../kernel/plugin/error.js';
import { type ConfigFile, noFile } from './config-file.js';
import { memberName, oldestBeside, requireNeighbours } from './cluster-member.js';
import { configure } from './configure.js';
import { makePrivate } from './private-folder.js';
import { type Environment, unknownVariables } from './variables.js';

/** How often a start that lost against another panel's, or lost the database, is repeated, after a longer pause each time. */
const MOST_LOST = 8;
const PAUSE_MS = 500;

export interface BootOptions
  extends Pick<KernelOptions, 'bootBeganAt' | 'clock' | 'forCommand' | 'limits' | 'provides' | 'selfChecks'> {
  /** in any order */
  readonly plugins: readonly Plugin[];
  /** plugins that should run but could not be loaded */
  readonly leftOut?: readonly LeftOut[];
  readonly env: Environment;
  /** content of the config file; empty by default */
  readonly file?: ConfigFile;
  /** where log lines go; standard output by default */
  readonly write?: (line: string) => void;
  readonly readable?: boolean;
  /** where the last lines stay; a new one by default */
  readonly logBuffer?: LogBuffer;
}

/** Resolves when everything runs except what had to be left out. Rejects with ConfigError, PluginError or the first failure of an essential start, and closes everything before. */
export async function bootPanel(options: BootOptions): Promise<Kernel> {
  const leftOut = [...(options.leftOut ?? [])];
  // Nothing of a failed plugin may stay behind, so the boot starts again without it.
  let lost = 0;
  for (let { plugins } = options; ; ) {
    try {
      return await attempt({ ...options, plugins, leftOut });
    } catch (error) {
      const culprit = error instanceof PluginError ? error.culprit : undefined;
      // Another panel of the database, which starts at the same moment, has stored what this one was about to store; or the
      // database went away after it was opened, which is no fault of a plugin.
      const wentAway = culprit !== undefined && isAway(error);
      if ((isBusy(error) || wentAway) && ++lost <= MOST_LOST) {
        await sleep(Math.random() * lost * PAUSE_MS);
        continue;
      }
      if (!culprit || culprit.essential || wentAway) throw error;
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
    logBuffer = new LogBuffer(),
    leftOut,
  } = options;
  const { plugins, panel, sources, certificate, certificateFiles, configs, known } = await configure(
    options.plugins,
    env,
    file,
    new Set(leftOut.map(({ name }) => name)),
  );
  const panelLog = new PanelLog({ value: panel.logLevel, source: sources.logLevel }, logBuffer);
  const log = createLog({
    get level() {
      return panelLog.level;
    },
    readable,
    write,
    keep: (line) => logBuffer.add(line),
  });
  for (const name of unknownVariables(env, known))
    log.warn('no enabled plugin reads this variable; check its spelling', { variable: name });
  if (!certificate && !isLoopback(panel.host))
    log.warn(
      'the panel sends passwords and cookies unencrypted: set WEIR_TLS_CERT and WEIR_TLS_KEY, or put a proxy with TLS before it and WEIR_HOST on 127.0.0.1',
      { host: panel.host },
    );
  if (certificate && Date.parse(certificate.validTo) < Date.now())
    log.warn(
      `the certificate of the panel expired on ${certificate.validTo.slice(0, 10)}, so browsers and programs refuse it; renew it: its files are read again every minute`,
    );
  const dataDirectory = resolve(panel.dataDirectory);
  await makePrivate(dataDirectory, log);
  const { bootBeganAt, forCommand, limits, provides, selfChecks } = options;
  const member = memberName(configs);
  const sharedClock = new DatabaseClock();
  const clock = options.clock ?? (member === undefined ? undefined : sharedClock);
  const { host, port, databaseUrl, trustedProxies = [] } = panel;
  const oldest = oldestBeside(plugins);
  if (member !== undefined && databaseUrl !== undefined)
    await requireNeighbours({ address: databaseUrl, member, oldest });
  let kernel: Kernel | undefined;
  const listener: PanelListenerApi = {
    host: { value: host, source: sources.host },
    port: { value: port, source: sources.port },
    trustedProxies: { value: trustedProxies, source: sources.trustedProxies },
    certificateValidTo: () => certificate?.validTo ?? '',
    certificateFiles,
    certificateSource: sources.tlsCert,
    readCertificate: async () => kernel?.listeners.renewCertificate(),
    askForCertificates: (authorities) => {
      certificate?.askFor(authorities);
      kernel?.listeners.panel.renew();
      return certificate !== undefined;
    },
  };
  kernel = await Kernel.boot({
    plugins,
    leftOut,
    configs,
    dataDirectory,
    databaseUrl,
    member,
    host,
    port,
    certificate,
    trustedProxies,
    log,
    bootBeganAt,
    clock,
    provides: [
      provide(PanelListener, listener),
      ...(member === undefined
        ? []
        : [provide(SharedClock, sharedClock), provide(OldestBeside, { version: oldest })]),
      provide(LogToken, panelLog),
      provide(DatabaseToken, new PanelDatabase(databaseUrl, dataDirectory, env)),
      ...(provides ?? []),
    ],
    forCommand,
    selfChecks,
    ...(limits && { limits }),
  });
  return kernel;
}
