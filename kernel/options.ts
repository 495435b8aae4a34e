// The options of a kernel: a configuration that was read and checked.
import type { PluginConfig } from '../schema/variable.js';
import type { Provision } from './container/token.js';
import type { Certificate } from '../net/certificate.js';
import type { Clock } from '../timing/clock.js';
import type { Log } from './log/log.js';
import type { Plugin } from './plugin/define.js';
import type { LeftOut } from './plugin/plugins.js';
import type { Limits } from './plugin/limits.js';

export interface KernelOptions {
  /** in start order: after the plugins that it uses (`panel/order.ts`) */
  readonly plugins: readonly Plugin[];
  /** plugins that should run but cannot */
  readonly leftOut?: readonly LeftOut[];
  /** boot settings of plugins, by plugin name */
  readonly configs: ReadonlyMap<string, PluginConfig>;
  readonly dataDirectory: string;
  /** of a database server; without it the database is a file in the data folder */
  readonly databaseUrl?: string | undefined;
  /** name among several panels that use the database together */
  readonly member?: string | undefined;
  /** of the panel's listener; without a certificate it serves plain HTTP */
  readonly host: string;
  readonly port: number;
  readonly certificate?: Certificate | undefined;
  /** addresses and CIDRs whose forwarded headers count */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly log: Log;
  /** when the start began whose duration `ready` logs, in `performance.now()` time; by default the boot itself */
  readonly bootBeganAt?: number | undefined;
  readonly clock?: Clock | undefined;
  /** values that the program around the kernel provides to plugins */
  readonly provides?: readonly Provision[] | undefined;
  /** Plugins start, but no listener opens, no job runs, and programs beside the panel are left alone: for a command while no panel runs. */
  readonly forCommand?: boolean | undefined;
  /** for tests, which wait less */
  readonly limits?: Partial<Limits> | undefined;
  /** for tests and `weir dev`: replies are checked against their declaration, and a write inside a write fails at once */
  readonly selfChecks?: boolean | undefined;
}
