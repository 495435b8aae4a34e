// Starts the core with as much of the plan as it accepts.
import type { Log } from '../../kernel/index.js';
import type { Composition } from './composition.js';
import type { ConfigReconciler } from './config.js';
import { type CoreDriver, type CoreProcess, type CoreRecord, CoreRefused, CoreTooSlow } from './driver.js';
import { thirdPartyPlugins, type Plan, recordOf } from './plan.js';

interface Parts {
  readonly driver: CoreDriver;
  readonly composition: Composition;
  readonly config: ConfigReconciler;
  readonly log: Log;
}
export interface Started {
  readonly process: CoreProcess;
  readonly record: CoreRecord;
  /** the plan it was started with */
  readonly plan: Plan;
  /** false: its inbounds must still be put */
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

/** Resolves like `work`, or like `other` when the core rejects the config. */
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

/** Rejects with CoreRefused when the core does not start even without inbounds and third-party parts. */
export function startCore(parts: Parts, plan: Plan): Promise<Started> {
  const { composition, driver, log } = parts;
  const oneByOne = (next: Plan, refusal: Error): Promise<Started> => {
    // A slow machine is no reason to leave parts out.
    if (refusal instanceof CoreTooSlow) throw refusal;
    if (next.inbounds.size === 0 && thirdPartyPlugins(next.parts).length === 0) throw refusal;
    // One bad inbound, for example with a taken port, must not stop all others.
    log.warn('the core rejected the whole config; adding its inbounds one by one', {
      reason: refusal.message,
    });
    return unlessRefused(
      () => bare(parts, next),
      (again) => {
        if (again instanceof CoreTooSlow || thirdPartyPlugins(next.parts).length === 0) throw again;
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
