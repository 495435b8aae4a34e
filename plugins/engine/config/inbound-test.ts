// Has the core test an inbound before it is saved.
import { type Log, messageOf } from '../../../kernel/index.js';
import type { Composition } from './composition.js';
import { type CoreDriver, type CoreInbound, CoreRefused, type CoreUser } from '../driver.js';

interface Needs {
  readonly driver: CoreDriver;
  readonly composition: Composition;
  readonly log: Log;
}

/** Rejects with CoreRefused. When the core cannot be asked it resolves, and logs that. */
export async function testInbound(
  { driver, composition, log }: Needs,
  inbound: CoreInbound,
  sample: CoreUser | undefined,
): Promise<void> {
  const plan = await composition.plan();
  try {
    try {
      await driver.test(plan.base, [inbound]);
    } catch (error) {
      if (!(error instanceof CoreRefused)) throw error;
      // The core may reject another part of the config.
      const accepted = await composition.withoutCulprits(driver, plan, { testInbounds: false });
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
