// A planned end of the core that loses no byte: nobody comes in any more, what is open ends where it can, the counters are read to the last.
import { type Hooks, type Log, messageOf } from '../../kernel/index.js';
import { beforeCoreStop, beforeCountersGo, type CoreCounters } from './contract.js';
import type { CoreDriver, CoreRecord } from './driver.js';

interface Parts {
  readonly hooks: Hooks;
  readonly log: Log;
  readonly driver: CoreDriver;
  /** what the core runs */
  readonly record: CoreRecord;
  readonly counters: () => Promise<CoreCounters | undefined>;
}

/** `beforeSignal` is called when all is read, and nothing stands between that and the signal. */
export async function gracefulStop(
  { hooks, log, driver, record, counters }: Parts,
  reason: string,
  beforeSignal: () => void,
): Promise<void> {
  await removeInbounds(driver, record).catch((error: unknown) =>
    log.warn('the core kept its inbounds to its end', { reason: messageOf(error) }),
  );
  await hooks.notify(beforeCoreStop, { reason });
  // Where connections could not be ended, bytes flow on while that poll is written down.
  const last = await counters().catch(() => undefined);
  beforeSignal();
  await driver.stop();
  if (last) await hooks.notify(beforeCountersGo, { counters: last });
}

/** Over UDP this ends what is open as well. Should the panel die on the way, the next one puts all inbounds back. */
async function removeInbounds(driver: CoreDriver, record: CoreRecord): Promise<void> {
  await driver.remember({ ...record, inbounds: {} });
  for (const tag of Object.keys(record.inbounds)) await driver.removeInbound(tag);
}
