// A reading of the counters that waits for no answer longer than a moment.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreCounters } from '../contract.js';
import type { CoreDriver } from '../driver.js';

const ANSWER_MS = 3000;

/** Whether the core answers its cheapest call. True for a core that has no such call. */
export async function isAnswering({ monitor }: Pick<CoreDriver, 'monitor'>): Promise<boolean> {
  return (
    monitor === undefined ||
    monitor.figures(ANSWER_MS).then(
      () => true,
      () => false,
    )
  );
}

/** Undefined when no answer comes in time. */
export async function readSoon(
  counters: () => Promise<CoreCounters | undefined>,
): Promise<CoreCounters | undefined> {
  const limit = new AbortController();
  const late = sleep(ANSWER_MS, undefined, { signal: limit.signal }).catch(() => undefined);
  try {
    return await Promise.race([counters().catch(() => undefined), late]);
  } finally {
    limit.abort();
  }
}
