// Compares what the core runs with what it should run: somebody else may change it, and it may lose a change.
import { type Hooks, type Log, TimeSlice } from '../../../kernel/index.js';
import { CORE_API_TAG } from '../../core-guard/contract.js';
import type { Applied } from './applied.js';
import { coreDrifted } from '../contract.js';
import type { DesiredUsers } from '../users/desired-users.js';
import {
  type AppliedDigests,
  type CoreBase,
  type CoreDriver,
  CoreUnreachable,
  type RunningParts,
} from '../driver.js';
import type { InboundReconciler } from './inbound-reconciler.js';
import type { PlannedInbound } from '../config/plan.js';
import type { UserReconciler } from '../users/user-reconciler.js';

interface Needs {
  readonly hooks: Hooks;
  readonly log: Log;
  readonly applied: Applied;
  readonly inbounds: InboundReconciler;
  readonly users: UserReconciler;
  readonly desired: DesiredUsers;
  /** whether users are on their way to the core, which it does not lack then */
  readonly isBusy: () => boolean;
}
interface Drift {
  /** digests of what must be changed again, emptied */
  readonly digests: Partial<AppliedDigests>;
  /** for people */
  readonly found: readonly string[];
}

export class DriftWatch {
  readonly #needs: Needs;
  /** of the outbounds that run, by tag, as the core returned them after the last change */
  #outbounds: ReadonlyMap<string, string> = new Map();
  /** the applied digests of outbounds at that time; another object after each change */
  #of: AppliedDigests['outbounds'] | undefined;
  #turn = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Marks and reports what differs; resolves with whether the plan must be applied again. */
  async differs(driver: CoreDriver): Promise<boolean> {
    try {
      return await this.#look(driver);
    } catch (error) {
      if (!(error instanceof CoreUnreachable)) throw error;
      this.#needs.log.debug('what the core runs could not be read back', { reason: error.message });
      return false;
    }
  }

  async #look(driver: CoreDriver): Promise<boolean> {
    const { applied, hooks, log } = this.#needs;
    const running = await driver.running();
    const drift = this.#compare(running);
    // An inbound that is missing gets all its users with it.
    const users = drift.found.length > 0 ? [] : await this.#compareUsers(driver);
    const found = [...drift.found, ...users];
    if (found.length === 0) return false;
    log.warn('the core does not run what it should; fixing that', { found: found.slice(0, 20).join('; ') });
    hooks.emit(coreDrifted, { found });
    await applied.remember(driver, drift.digests);
    return drift.found.length > 0;
  }

  #compare({ inbounds, outbounds, ruleTags }: RunningParts): Drift {
    const { digests, base } = this.#needs.applied;
    const found: string[] = [];
    const changedInbounds: Record<string, string> = {};
    for (const tag of Object.keys(digests.inbounds))
      if (!inbounds.includes(tag)) {
        found.push(`the inbound ${tag} is missing`);
        changedInbounds[tag] = '';
      }
    for (const tag of inbounds)
      if (!Object.hasOwn(digests.inbounds, tag)) {
        found.push(`nobody added the inbound ${tag}`);
        changedInbounds[tag] = '';
      }
    const changedOutbounds: Record<string, string> = {};
    const isNew = this.#of !== digests.outbounds;
    for (const tag of Object.keys(digests.outbounds)) {
      const now = outbounds.get(tag);
      // Others may be there too: the reverse proxies of clients.
      if (now !== undefined && (isNew || now === this.#outbounds.get(tag))) continue;
      found.push(`the outbound ${tag} is ${now === undefined ? 'missing' : 'another one'}`);
      changedOutbounds[tag] = '';
    }
    this.#of = digests.outbounds;
    this.#outbounds = outbounds;
    const isOtherRules = base !== undefined && !sameList(ruleTags, [CORE_API_TAG, ...ruleTagsOf(base)]);
    if (isOtherRules) found.push('the rules are others');
    return {
      found,
      digests: {
        ...(Object.keys(changedInbounds).length > 0 && {
          inbounds: { ...digests.inbounds, ...changedInbounds },
        }),
        ...(Object.keys(changedOutbounds).length > 0 && {
          outbounds: { ...digests.outbounds, ...changedOutbounds },
        }),
        ...(isOtherRules && { rules: '' }),
      },
    };
  }

  /** One inbound at a time: to count the users that 100,000 clients should be takes some 50 ms of CPU. */
  async #compareUsers(driver: CoreDriver): Promise<string[]> {
    const { inbounds, users, applied, isBusy } = this.#needs;
    // It would wait behind them, and they behind it.
    if (isBusy()) return [];
    const candidates = [...inbounds.planned.values()].filter(
      ({ id, tag, users: inConfig }) => !inConfig && applied.digests.inbounds[tag] && !users.isMarked(id),
    );
    const inbound = candidates[this.#turn++ % candidates.length];
    if (!inbound) return [];
    return users.queues.run(inbound.tag, async () => {
      let [has, should] = [0, 0];
      // Twice: a change that is committed while they are counted shows in one of the numbers only.
      for (let n = 0; n < 2; n++) {
        [has, should] = [await driver.userCount(inbound.tag), await this.#count(inbound)];
        if (has === should || isBusy()) return [];
      }
      users.mark(inbound.id);
      return [`the inbound ${inbound.tag} has ${has} users in place of ${should}`];
    });
  }

  async #count(inbound: PlannedInbound): Promise<number> {
    const slice = new TimeSlice();
    let count = 0;
    for (const _user of this.#needs.desired.valid(inbound)) {
      count += 1;
      if (slice.isOver) await slice.next();
    }
    return count;
  }
}

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at]);

const ruleTagsOf = (base: CoreBase): string[] =>
  (base['routing'] as unknown as { rules: { ruleTag: string }[] }).rules.map(({ ruleTag }) => ruleTag);
