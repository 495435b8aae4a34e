// Tests a config with the core, and shows the config of a start, without running anything.
import { type Log, messageOf } from '../../kernel/index.js';
import { type CoreDriver, type CoreInbound, CoreRefused, type CoreUser } from './driver.js';
import type { Composition } from './composition.js';
import type { Plan, PlannedInbound } from './plan.js';

/** Rejects with CoreRefused; a core that cannot be asked does not object. */
export async function examine(
  driver: CoreDriver | undefined,
  composition: Composition,
  inbound: CoreInbound,
  log: Log,
  sample: CoreUser | undefined,
): Promise<void> {
  if (!driver) return;
  const plan = await composition.plan();
  try {
    try {
      await driver.test(plan.base, [inbound]);
    } catch (error) {
      // The core may reject another part of the config.
      const accepted = error instanceof CoreRefused ? await composition.accepted(driver, plan, false) : plan;
      if (accepted === plan) throw error;
      await driver.test(accepted.base, [inbound]);
    }
    if (sample) await driver.testAccount(inbound, sample);
  } catch (error) {
    if (error instanceof CoreRefused) throw error;
    log.warn('the core could not test an inbound; saving it untested', {
      tag: inbound.tag,
      reason: messageOf(error),
    });
  }
}

export function configJson(
  driver: CoreDriver,
  plan: Plan,
  withUsers: (inbound: PlannedInbound) => CoreInbound & { readonly users: Iterable<CoreUser> },
): Record<string, unknown> {
  const text = [...driver.configText(plan.base, [...plan.inbounds.values()].map(withUsers))].join('');
  return JSON.parse(text) as Record<string, unknown>;
}
