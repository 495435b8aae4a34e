// Composes what the core should run from the parts of all plugins, without clashes and without parts that the core rejected.
import type { Hooks, Log, PluginsApi } from '../../kernel/index.js';
import type { CoreGuardApi } from '../core-guard/contract.js';
import type { Openness } from './base-config.js';
import { type Part, withoutClashes } from './claims.js';
import { composeCoreConfig } from './contract.js';
import { findCulprits } from './culprits.js';
import { type CoreDriver, CoreRefused, CoreTooSlow, type Json } from './driver.js';
import { keepOut } from './keep-out.js';
import { digestOf, thirdPartyPlugins, type Plan, planOf, type UsersInConfig } from './plan.js';

/** Under this name the kernel shows the part of a plugin's work that is left out. */
const CONFIG = composeCoreConfig.id;
const INBOUNDS = `${CONFIG}: inbounds`;

interface Refused {
  /** of its parts: changed parts are tried again */
  readonly digest: string;
  readonly reason: string;
}

export class Composition {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #plugins: Pick<PluginsApi, 'leaveOut'>;
  readonly #open: Openness;
  readonly #guard: CoreGuardApi;
  readonly #usersInConfig: UsersInConfig;
  #keptOut: readonly string[] = [];
  /** third-party plugins whose parts are left out */
  readonly #refused = new Map<string, Refused>();
  /** what is shown now: plugin and work */
  readonly #said = new Map<string, Set<string>>();
  #lost: ReadonlyMap<string, string> = new Map();

  constructor(needs: {
    hooks: Hooks;
    log: Log;
    plugins: Pick<PluginsApi, 'leaveOut'>;
    open: Openness;
    guard: CoreGuardApi;
    usersInConfig: UsersInConfig;
  }) {
    this.#hooks = needs.hooks;
    this.#log = needs.log;
    this.#plugins = needs.plugins;
    this.#open = needs.open;
    this.#guard = needs.guard;
    this.#usersInConfig = needs.usersInConfig;
  }

  async plan(): Promise<Plan> {
    const { kept: composed, lost } = withoutClashes(await this.#hooks.compose(composeCoreConfig, undefined));
    const { parts: kept, keptOut } = await keepOut(composed, this.#guard);
    // Problems of the panel's own inbounds are shown in the engine's status.
    this.#keptOut = [...lost.flatMap(({ outside, reason }) => (outside ? [] : [reason])), ...keptOut];
    for (const [plugin, { digest }] of this.#refused)
      if (digestOfParts(kept, plugin) !== digest) this.#refused.delete(plugin);
    this.#lost = new Map(lost.map(({ plugin }) => [plugin, reasons(lost, plugin)]));
    this.#tell();
    return this.#planOf(kept.filter(({ plugin }) => !this.#refused.has(plugin)));
  }

  #planOf(parts: readonly Part[]): Plan {
    return planOf(parts, this.#open, this.#usersInConfig, this.#keptOut);
  }

  /** The next plan tries again what the core has rejected. */
  retryRefused(): void {
    this.#refused.clear();
  }

  /** Resolves with the reason why the core rejects this plan; undefined when it accepts it. Without `whole`, inbounds are not tested. */
  async #refusal(driver: CoreDriver, { base, inbounds }: Plan, whole: boolean): Promise<string | undefined> {
    try {
      await driver.test(base, whole ? [...inbounds.values()] : []);
      return undefined;
    } catch (error) {
      if (error instanceof CoreRefused || error instanceof CoreTooSlow) return error.message;
      throw error;
    }
  }

  /**
   * Returns the plan without third-party parts that the core rejects; the same plan when it rejects none of them. Parts
   * that are left out stay out until they change. Rejects when the core cannot be asked.
   */
  async accepted(driver: CoreDriver, plan: Plan, whole: boolean): Promise<Plan> {
    const plugins = thirdPartyPlugins(plan.parts);
    if (plugins.length === 0) return plan;
    const refusal = await this.#refusal(driver, plan, whole);
    if (refusal === undefined) return plan;
    const without = (out: ReadonlySet<string>) =>
      this.#planOf(plan.parts.filter(({ plugin }) => !out.has(plugin)));
    const culprits = await findCulprits(plugins, refusal, (kept) =>
      this.#refusal(driver, without(new Set(plugins.filter((name) => !kept.includes(name)))), whole),
    );
    // The core rejects one of the panel's own inbounds too: those are put one by one, so the rest must be valid without them.
    if (!culprits) return whole ? this.accepted(driver, plan, false) : plan;
    return this.#leaveOut(plan, culprits);
  }

  /** Rejects with CoreRefused when the core rejects the config even without third-party parts. */
  async require(driver: CoreDriver): Promise<void> {
    const { base, inbounds } = await this.accepted(driver, await this.plan(), true);
    await driver.test(base, [...inbounds.values()]);
  }

  /** Returns the plan without third-party parts, for a core that does not start with them. */
  withoutOutsiders(plan: Plan, reason: string): Plan {
    return this.#leaveOut(plan, new Map(thirdPartyPlugins(plan.parts).map((plugin) => [plugin, reason])));
  }

  #leaveOut(plan: Plan, culprits: ReadonlyMap<string, string>): Plan {
    for (const [plugin, reason] of culprits) {
      this.#refused.set(plugin, { digest: digestOfParts(plan.parts, plugin), reason });
      this.#log.error('the core rejected what a plugin adds to its config; it runs without that', {
        of: plugin,
        reason,
      });
    }
    this.#tell();
    return this.#planOf(plan.parts.filter(({ plugin }) => !culprits.has(plugin)));
  }

  /** Shows inbounds that the running core rejected, by tag. */
  showRefused({ inbounds }: Plan, refused: ReadonlyMap<string, string>): void {
    const lost = [...refused].flatMap(([tag, reason]) => {
      const plugin = inbounds.get(tag)?.plugin;
      return plugin === undefined
        ? []
        : [{ plugin, reason: `the core rejected its inbound ${tag}: ${reason}` }];
    });
    this.#say(INBOUNDS, new Map(lost.map(({ plugin }) => [plugin, reasons(lost, plugin)])));
  }

  #tell(): void {
    const refused = [...this.#refused].map(
      ([plugin, { reason }]) =>
        [plugin, `the core rejected what it adds to the config and runs without that: ${reason}`] as const,
    );
    this.#say(CONFIG, new Map([...this.#lost, ...refused]));
  }

  #say(work: string, reasonOf: ReadonlyMap<string, string>): void {
    for (const plugin of this.#said.get(work) ?? [])
      if (!reasonOf.has(plugin)) this.#plugins.leaveOut(plugin, work, '');
    for (const [plugin, reason] of reasonOf) this.#plugins.leaveOut(plugin, work, reason);
    this.#said.set(work, new Set(reasonOf.keys()));
  }
}

const reasons = (lost: readonly { readonly plugin: string; readonly reason: string }[], of: string): string =>
  lost.flatMap(({ plugin, reason }) => (plugin === of ? [reason] : [])).join('; ');

const digestOfParts = (parts: readonly Part[], of: string): string =>
  digestOf(parts.flatMap(({ plugin, entry }) => (plugin === of ? [entry as unknown as Json] : [])));
