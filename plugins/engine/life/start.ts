// Starts the core with as much of the plan as it accepts.
import type { Log } from '../../../kernel/index.js';
import type { Composition } from '../config/composition.js';
import {
  type AppliedDigests,
  type CoreDriver,
  type CoreProcess,
  CoreRefused,
  CoreTooSlow,
} from '../driver.js';
import type { InboundReconciler } from '../apply/inbound-reconciler.js';
import { digestsOf, thirdPartyPlugins, type Plan } from '../config/plan.js';

interface Needs {
  readonly driver: CoreDriver;
  readonly composition: Composition;
  readonly inbounds: InboundReconciler;
  readonly log: Log;
}
export interface Started {
  readonly process: CoreProcess;
  readonly digests: AppliedDigests;
  /** the plan it was started with */
  readonly plan: Plan;
  /** false: its inbounds must still be put */
  readonly hasInbounds: boolean;
}

async function startWithInbounds({ driver, inbounds }: Needs, plan: Plan): Promise<Started> {
  const digests = digestsOf(plan);
  const withUsers = [...plan.inbounds.values()].map((inbound) => inbounds.withUsers(inbound));
  return { process: await driver.start(plan.base, withUsers, digests), digests, plan, hasInbounds: true };
}

async function startBare({ driver }: Needs, plan: Plan): Promise<Started> {
  const digests: AppliedDigests = { ...plan.digests, inbounds: {} };
  return { process: await driver.start(plan.base, [], digests), digests, plan, hasInbounds: false };
}

/** Resolves with the error of a start whose config the core rejects. */
const orRejection = (start: Promise<Started>): Promise<Started | CoreRefused | CoreTooSlow> =>
  start.catch((error: unknown) => {
    if (error instanceof CoreRefused || error instanceof CoreTooSlow) return error;
    throw error;
  });

/**
 * Starts the core with the first of these that it accepts:
 * 1. the whole plan
 * 2. the plan without third-party parts that it rejects in a test
 * 3. that without inbounds, for the caller to put them one by one: a bad one, for example with a taken port, must not stop the others
 * 4. that without any third-party parts
 *
 * A core that is only slow gets neither 3 nor 4. Rejects with the reason of the last attempt.
 */
export async function startCore(needs: Needs, plan: Plan): Promise<Started> {
  const { composition, driver, log } = needs;
  let result = await orRejection(startWithInbounds(needs, plan));
  if (!(result instanceof Error)) return result;

  const accepted = await composition.withoutCulprits(driver, plan, { testInbounds: true });
  if (accepted !== plan) result = await orRejection(startWithInbounds(needs, accepted));
  if (!(result instanceof Error)) return result;

  const hasThirdParty = thirdPartyPlugins(accepted.parts).length > 0;
  if (result instanceof CoreTooSlow || (accepted.inbounds.size === 0 && !hasThirdParty)) throw result;
  log.warn('the core rejected the whole config; adding its inbounds one by one', { reason: result.message });
  result = await orRejection(startBare(needs, accepted));
  if (!(result instanceof Error)) return result;

  if (result instanceof CoreTooSlow || !hasThirdParty) throw result;
  return startBare(needs, composition.withoutThirdParty(accepted, result.message));
}
