// Stops the core with its bytes counted: removes the inbounds, lets plugins close connections and poll, then reads the
// counters a last time. What a connection that could not be closed moves after that reading is lost.
import { type Hooks, type Log, messageOf } from '../../../kernel/index.js';
import { beforeCoreStop, beforeCountersGo, type CoreCounters } from '../contract.js';
import type { AppliedDigests, CoreDriver } from '../driver.js';
import { isAnswering } from './last-reading.js';

interface Needs {
  readonly hooks: Hooks;
  readonly log: Log;
  readonly driver: CoreDriver;
  /** of what the core runs */
  readonly digests: AppliedDigests;
  readonly counters: () => Promise<CoreCounters | undefined>;
}

/** `beforeSignal` is called after the last reading, immediately before the signal. */
export async function gracefulStop(
  { hooks, log, driver, digests, counters }: Needs,
  reason: string,
  beforeSignal: () => void,
): Promise<void> {
  if (!(await isAnswering(driver))) {
    log.warn('the core does not answer; stopping it without a last poll');
    beforeSignal();
    return driver.stop();
  }
  await removeInbounds(driver, digests).catch((error: unknown) =>
    log.warn('the inbounds could not be removed before the core stops', { reason: messageOf(error) }),
  );
  await hooks.notify(beforeCoreStop, { reason });
  // Where connections could not be closed, bytes still flow while that poll is stored.
  const last = await counters().catch(() => undefined);
  beforeSignal();
  try {
    await driver.stop();
  } finally {
    // This reading is the last one even if the process could not be stopped.
    if (last) await hooks.notify(beforeCountersGo, { counters: last });
  }
}

/** Over UDP this closes open sessions too. If the panel crashes here, the next one puts all inbounds back. */
async function removeInbounds(driver: CoreDriver, digests: AppliedDigests): Promise<void> {
  await driver.remember({ ...digests, inbounds: {} });
  for (const tag of Object.keys(digests.inbounds)) await driver.removeInbound(tag);
}
