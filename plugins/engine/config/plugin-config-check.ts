// Has the core test third-party plugins before they run in the panel; starts nothing and stores nothing.
import { join } from 'node:path';
import { type Hooks, type Log, messageOf, type PluginContext } from '../../../kernel/index.js';
import type { CoreGuardApi } from '../../core-guard/contract.js';
import type { Accounts } from '../users/accounts.js';
import type { Openness } from './base-config.js';
import { Composition } from './composition.js';
import type { CoreCheckApi, CoreCheckResult } from '../contract.js';
import { type CoreConfig, findCore } from '../install/find.js';
import type { ProcessesApi } from '../../processes/contract.js';
import { PartProblems } from './part-problems.js';
import { XrayDriver } from '../xray/xray-driver.js';

interface Needs extends Pick<PluginContext, 'hooks' | 'log' | 'dataDirectory' | 'contributions'> {
  config: CoreConfig & Openness;
  guard: CoreGuardApi;
  accounts: Accounts;
  processes: ProcessesApi;
}

export class PluginConfigCheck implements CoreCheckApi {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #config: Needs['config'];
  readonly #guard: CoreGuardApi;
  readonly #checks: PartProblems;
  readonly #accounts: Accounts;
  readonly #processes: ProcessesApi;
  /** of the process that checks, for temporary files; the core is searched in the data folder of the panel that is checked */
  readonly #folder: string;

  constructor({ hooks, log, config, guard, accounts, processes, dataDirectory, contributions }: Needs) {
    this.#hooks = hooks;
    this.#log = log;
    this.#config = config;
    this.#guard = guard;
    this.#checks = new PartProblems({ contributions });
    this.#accounts = accounts;
    this.#processes = processes;
    this.#folder = join(dataDirectory, 'engine');
  }

  async checkPlugins(dataDirectory: string): Promise<CoreCheckResult> {
    const none = (missing: string): CoreCheckResult => ({ core: '', missing, refused: [] });
    try {
      const log = { info: () => undefined, warn: () => undefined };
      const found = await findCore({ config: { ...this.#config, install: 'off' }, dataDirectory, log });
      if ('missing' in found) return none('there is no core here yet');
      const driver = new XrayDriver({
        binary: found.binary,
        directory: this.#folder,
        log: this.#log,
        accounts: this.#accounts,
        processes: this.#processes,
      });
      const core = `${found.binary} (${await driver.version()})`;
      const reported = new Map<string, string>();
      const composition = new Composition({
        hooks: this.#hooks,
        log: { ...this.#log, error: () => undefined },
        plugins: { leaveOut: (plugin, _, reason) => void (reason && reported.set(plugin, reason)) },
        open: this.#config,
        guard: this.#guard,
        checks: this.#checks,
        // Not needed: an inbound is tested without users.
        usersInConfig: () => undefined,
      });
      await composition.withoutCulprits(driver, await composition.plan(), { testInbounds: true });
      return {
        core,
        missing: '',
        refused: [...reported].map(([plugin, reason]) => ({ plugin, reason })),
      };
    } catch (error) {
      return none(`the core could not be asked: ${messageOf(error)}`);
    }
  }
}
