// Composes what the core should run from the parts of all plugins, without clashing, blocked and rejected parts.
import type { Hooks, Log, PluginsApi } from '../../../kernel/index.js';
import type { CoreGuardApi } from '../../core-guard/contract.js';
import type { Openness } from './base-config.js';
import { withoutBlocked } from './blocked-parts.js';
import { type Part, withoutClashes } from './claims.js';
import { composeCoreConfig, type CorePart, type PartProblem } from '../contract.js';
import { deadEnds, withoutDeadEnds } from './dead-ends.js';
import { findCulprits } from './culprits.js';
import { type CoreDriver, CoreRefused, CoreTooSlow, type Json } from '../driver.js';
import { LeftOutReport, reasonsByPlugin } from './left-out-report.js';
import { digestOf } from './digest.js';
import type { PartProblems } from './part-problems.js';
import { thirdPartyPlugins, type Plan, planOf, type UsersInConfig } from './plan.js';

/** Labels in `weir plugins`. */
const CONFIG = composeCoreConfig.id;
const INBOUNDS = `${CONFIG}: inbounds`;

/** Somebody waits for it. */
const LONGEST_SEARCH_MS = 10_000;

interface Rejected {
  /** of its parts: changed parts are tried again */
  readonly digest: string;
  readonly reason: string;
}
/** Whether the core tests the inbounds too, or only the base. */
interface Extent {
  readonly testInbounds: boolean;
}
interface Needs {
  readonly hooks: Hooks;
  readonly log: Log;
  readonly plugins: Pick<PluginsApi, 'leaveOut'>;
  readonly open: Openness;
  readonly guard: CoreGuardApi;
  readonly checks: PartProblems;
  readonly usersInConfig: UsersInConfig;
}

export class Composition {
  readonly #needs: Needs;
  readonly #report: LeftOutReport;
  /** third-party plugins whose parts the core rejected */
  readonly #rejected = new Map<string, Rejected>();
  /** reasons of clashes by plugin, in the last plan */
  #clashes: ReadonlyMap<string, string> = new Map();
  #leftOut: readonly string[] = [];

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#report = new LeftOutReport(needs.plugins);
  }

  /** Composes the plan of this moment. Rejected parts that have changed are in it again. */
  async plan(): Promise<Plan> {
    const { parts, clashing, blocked } = await this.#compose();
    // Problems of the panel's own inbounds are shown in the engine's status.
    this.#leftOut = [
      ...clashing.flatMap(({ outside, reason }) => (outside ? [] : [reason])),
      ...blocked.map(({ name, reason }) => `${name}: ${reason}`),
    ];
    this.#clashes = reasonsByPlugin(clashing);
    this.#forgetChanged(parts);
    this.#reportConfig();
    return this.#planOf(parts.filter(({ plugin }) => !this.#rejected.has(plugin)));
  }

  async #compose(replacement?: Replacement) {
    const { hooks, guard, checks, open } = this.#needs;
    const composed = await hooks.compose(composeCoreConfig, undefined);
    const { kept, clashing } = withoutClashes(replaced(composed, replacement));
    return { ...(await withoutBlocked(kept, { guard, checks, open })), clashing };
  }

  /** Composes a plan with other parts of one plugin, for a look at it: nothing is remembered or reported. */
  async planWith(replacement: Replacement): Promise<{ plan: Plan; problems: PartProblem[] }> {
    const { parts, clashing, blocked } = await this.#compose(replacement);
    const given = new Set(replacement.parts);
    const problems: PartProblem[] = [...clashing, ...blocked].flatMap(({ part: { entry }, reason }) =>
      given.has(entry) ? [{ part: entry, reason }] : [],
    );
    problems.push(...deadEnds(parts, given));
    return { plan: this.#planOf(parts.filter(({ plugin }) => !this.#rejected.has(plugin))), problems };
  }

  /** Returns those of these parts of a plan that the core rejects, with its reasons; the base is tested without inbounds. Rejects when the core cannot be asked. */
  async rejectedParts(driver: CoreDriver, plan: Plan, among: readonly CorePart[]): Promise<PartProblem[]> {
    const rejection = await this.#rejection(driver, plan, { testInbounds: false });
    if (rejection === undefined) return [];
    // Each further test would take as long.
    if (rejection instanceof CoreTooSlow) return [{ part: undefined, reason: rejection.message }];
    const names = among.map((_, at) => String(at));
    const culprits = await findCulprits(
      names,
      rejection.message,
      async (kept) => {
        const out = new Set(names.filter((name) => !kept.includes(name)).map((name) => among[Number(name)]));
        const parts = plan.parts.filter(({ entry }) => !out.has(entry));
        const left = this.#planOf(withoutDeadEnds(parts));
        return (await this.#rejection(driver, left, { testInbounds: false }))?.message;
      },
      LONGEST_SEARCH_MS,
    );
    if (!culprits) return [{ part: undefined, reason: rejection.message }];
    return [...culprits].map(([name, reason]) => ({ part: among[Number(name)], reason }));
  }

  #planOf(parts: readonly Part[]): Plan {
    return planOf(parts, this.#needs.open, this.#needs.usersInConfig, this.#leftOut);
  }

  #forgetChanged(parts: readonly Part[]): void {
    for (const [plugin, { digest }] of this.#rejected)
      if (digestOfParts(parts, plugin) !== digest) this.#rejected.delete(plugin);
  }

  /** The next plan tries again what the core has rejected. */
  retryRejected(): void {
    this.#rejected.clear();
  }

  /** Resolves with the error of a core that rejects this plan; undefined when it accepts it. */
  async #rejection(
    driver: CoreDriver,
    { base, inbounds }: Plan,
    { testInbounds }: Extent,
  ): Promise<CoreRefused | CoreTooSlow | undefined> {
    try {
      await driver.test(base, testInbounds ? [...inbounds.values()] : []);
      return undefined;
    } catch (error) {
      if (error instanceof CoreRefused || error instanceof CoreTooSlow) return error;
      throw error;
    }
  }

  /**
   * Returns the plan without third-party parts that the core rejects; the same plan when it rejects none of them. Parts
   * that are left out stay out until they change. Rejects when the core cannot be asked.
   */
  async withoutCulprits(driver: CoreDriver, plan: Plan, extent: Extent): Promise<Plan> {
    const plugins = thirdPartyPlugins(plan.parts);
    if (plugins.length === 0) return plan;
    const rejection = await this.#rejection(driver, plan, extent);
    if (rejection === undefined) return plan;
    const without = (out: ReadonlySet<string>) =>
      this.#planOf(plan.parts.filter(({ plugin }) => !out.has(plugin)));
    const culprits = await findCulprits(plugins, rejection.message, async (kept) => {
      const left = without(new Set(plugins.filter((name) => !kept.includes(name))));
      return (await this.#rejection(driver, left, extent))?.message;
    });
    if (culprits) return this.#leaveOut(plan, culprits);
    // The core rejects one of the panel's own inbounds too: those are put one by one, so the rest must be valid without them.
    return extent.testInbounds ? this.withoutCulprits(driver, plan, { testInbounds: false }) : plan;
  }

  /** Rejects with CoreRefused when the core rejects the config even without third-party parts. */
  async require(driver: CoreDriver): Promise<void> {
    const plan = await this.withoutCulprits(driver, await this.plan(), { testInbounds: true });
    await driver.test(plan.base, [...plan.inbounds.values()]);
  }

  /** Returns the plan without third-party parts, for a core that does not start with them. */
  withoutThirdParty(plan: Plan, reason: string): Plan {
    return this.#leaveOut(plan, new Map(thirdPartyPlugins(plan.parts).map((plugin) => [plugin, reason])));
  }

  #leaveOut(plan: Plan, culprits: ReadonlyMap<string, string>): Plan {
    for (const [plugin, reason] of culprits) {
      this.#rejected.set(plugin, { digest: digestOfParts(plan.parts, plugin), reason });
      this.#needs.log.error('the core rejected what a plugin adds to its config; it runs without that', {
        of: plugin,
        reason,
      });
    }
    this.#reportConfig();
    return this.#planOf(plan.parts.filter(({ plugin }) => !culprits.has(plugin)));
  }

  #reportConfig(): void {
    const rejected = [...this.#rejected].map(
      ([plugin, { reason }]) =>
        [plugin, `the core rejected what it adds to the config and runs without that: ${reason}`] as const,
    );
    this.#report.replace(CONFIG, new Map([...this.#clashes, ...rejected]));
  }

  /** Reports inbounds of third-party plugins that the running core rejected, by tag. */
  reportRejected({ inbounds }: Plan, rejected: ReadonlyMap<string, string>): void {
    const leftOut = [...rejected].flatMap(([tag, reason]) => {
      const plugin = inbounds.get(tag)?.plugin;
      return plugin === undefined
        ? []
        : [{ plugin, reason: `the core rejected its inbound ${tag}: ${reason}` }];
    });
    this.#report.replace(INBOUNDS, reasonsByPlugin(leftOut));
  }
}

const digestOfParts = (parts: readonly Part[], of: string): string =>
  digestOf(parts.flatMap(({ plugin, entry }) => (plugin === of ? [entry as unknown as Json] : [])));

/** Parts of a plugin as they would be, in place of those that it adds now. */
export interface Replacement {
  readonly plugin: string;
  readonly parts: readonly CorePart[];
}
/** The new parts stand where the previous ones began; without any, behind all others. */
function replaced(parts: readonly Part[], replacement: Replacement | undefined): readonly Part[] {
  if (!replacement) return parts;
  const { plugin } = replacement;
  const begin = parts.findIndex((part) => part.plugin === plugin);
  const at = begin === -1 ? parts.length : begin;
  const isOther = (part: Part): boolean => part.plugin !== plugin;
  return [
    ...parts.slice(0, at),
    ...replacement.parts.map((entry) => ({ plugin, entry })),
    ...parts.slice(at).filter(isOther),
  ];
}
