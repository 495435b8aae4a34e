// A start that as much as possible comes of: whatever the core refuses is left out by itself.
import type { Log } from '../../kernel/index.js';
import type { Composition } from './composition.js';
import type { ConfigReconciler } from './config.js';
import { type CoreDriver, type CoreProcess, type CoreRecord, CoreRefused, CoreTooSlow } from './driver.js';
import { outsiders, type Plan, recordOf } from './plan.js';

interface Parts {
  readonly driver: CoreDriver;
  readonly composition: Composition;
  readonly config: ConfigReconciler;
  readonly log: Log;
}
export interface Started {
  readonly process: CoreProcess;
  readonly record: CoreRecord;
  /** what it was started with */
  readonly plan: Plan;
  /** false: its inbounds are still to be put */
  readonly whole: boolean;
}

async function whole({ driver, config }: Parts, plan: Plan): Promise<Started> {
  const record = recordOf(plan);
  const inbounds = [...plan.inbounds.values()].map((inbound) => config.withUsers(inbound));
  return { process: await driver.start(plan.base, inbounds, record), record, plan, whole: true };
}

async function bare({ driver }: Parts, plan: Plan): Promise<Started> {
  const record: CoreRecord = { base: plan.baseDigest, inbounds: {} };
  return { process: await driver.start(plan.base, [], record), record, plan, whole: false };
}

/** What `work` comes to, or what `other` makes of the core's refusal. */
async function unlessRefused(
  work: () => Promise<Started>,
  other: (refusal: Error) => Promise<Started>,
): Promise<Started> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CoreRefused || error instanceof CoreTooSlow) return other(error);
    throw error;
  }
}

/** Rejects with CoreRefused when the core does not start even without inbounds and without anything of plugins from outside. */
export function startCore(parts: Parts, plan: Plan): Promise<Started> {
  const { composition, driver, log } = parts;
  const oneByOne = (next: Plan, refusal: Error): Promise<Started> => {
    // A machine that is too slow now is no reason to leave anything out.
    if (refusal instanceof CoreTooSlow) throw refusal;
    if (next.inbounds.size === 0 && outsiders(next.parts).length === 0) throw refusal;
    // One bad inbound (a port that somebody took, say) must not keep all others from their users.
    log.warn('the core refused the whole config; its inbounds are added one by one', {
      reason: refusal.message,
    });
    return unlessRefused(
      () => bare(parts, next),
      (again) => {
        if (again instanceof CoreTooSlow || outsiders(next.parts).length === 0) throw again;
        return bare(parts, composition.withoutOutsiders(next, again.message));
      },
    );
  };
  return unlessRefused(
    () => whole(parts, plan),
    async (refusal) => {
      const accepted = await composition.accepted(driver, plan, true);
      return accepted === plan
        ? oneByOne(plan, refusal)
        : unlessRefused(
            () => whole(parts, accepted),
            (again) => oneByOne(accepted, again),
          );
    },
  );
}
