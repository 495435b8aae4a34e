// What the core would say of a config, and what the config would be, with nothing run.
import { type Log, messageOf } from '../../kernel/index.js';
import { type CoreDriver, type CoreInbound, CoreRefused, type CoreUser } from './driver.js';
import type { Composition } from './composition.js';
import type { Plan, PlannedInbound } from './plan.js';

/** Rejects with CoreRefused; a core that cannot say anything has no objection. */
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
      // It may be somebody else's part of the config that the core refuses.
      const accepted = error instanceof CoreRefused ? await composition.accepted(driver, plan, false) : plan;
      if (accepted === plan) throw error;
      await driver.test(accepted.base, [inbound]);
    }
    if (sample) await driver.testAccount(inbound, sample);
  } catch (error) {
    if (error instanceof CoreRefused) throw error;
    log.warn('the core could not examine an inbound; it is saved unexamined', {
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
