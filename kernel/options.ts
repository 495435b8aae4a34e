// What a kernel is booted with: a configuration that is read and checked.
import type { PluginConfig } from './config/variable.js';
import type { Provision } from './container/token.js';
import type { Certificate } from './http/certificate.js';
import type { Clock } from '../timing/clock.js';
import type { Log } from './log/log.js';
import type { Plugin } from './plugin/define.js';
import type { LeftOut } from './plugin/plugins.js';
import type { Limits } from './plugin/limits.js';

export interface KernelOptions {
  /** in start order: what a plugin uses comes before it (`panel/order.ts`) */
  readonly plugins: readonly Plugin[];
  /** what was to run and cannot */
  readonly leftOut?: readonly LeftOut[];
  /** boot settings of plugins, by their names */
  readonly configs: ReadonlyMap<string, PluginConfig>;
  readonly dataDirectory: string;
  /** of a server; without it the database is a file in the data folder */
  readonly databaseUrl?: string | undefined;
  /** of the panel's listener; without a certificate it speaks plain HTTP */
  readonly host: string;
  readonly port: number;
  readonly certificate?: Certificate | undefined;
  /** addresses and CIDRs whose forwarded headers count */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly log: Log;
  /** when the start began that `ready` tells the time of, as `performance.now()` has it; by default the boot itself */
  readonly begun?: number | undefined;
  readonly clock?: Clock | undefined;
  /** what the program around it offers to plugins */
  readonly provides?: readonly Provision[] | undefined;
  /** Plugins start, but nothing listens, no job runs, and what they run beside the panel is left alone: for a command while no panel runs. */
  readonly forCommand?: boolean | undefined;
  /** for tests, which do not wait as long */
  readonly limits?: Partial<Limits> | undefined;
  /** for tests: replies are checked against their declaration, and a write inside a write is refused at once */
  readonly strict?: boolean | undefined;
}
