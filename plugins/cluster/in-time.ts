// What ends with the lead gets a few seconds: then the next leader begins, and what was under way may be done twice.
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 4_000;

/** Resolves with the work, or after four seconds without it. Rejects where the work does before. */
export async function inTime(work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: over.signal }).catch(() => undefined);
  try {
    await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
