// Writes that lose against another panel by a moment.
import { setTimeout as sleep } from 'node:timers/promises';
import { kernelErrors, storageFailure } from '../../kernel/index.js';

const MOST_REPEATS = 5;
const REPEAT_MS = 50;

/** Whether a write was refused because another panel was a moment ahead of it; nothing of it is saved. */
export function isBusy(error: unknown): boolean {
  const failure = storageFailure(error);
  return failure !== undefined && failure !== 'disk' && failure.code === kernelErrors.DATABASE_BUSY.code;
}

/** Runs it again, at most five times, where another panel was a moment ahead of its write. `work` must plan again each time, or need no memory. */
export async function againIfBusy<T>(work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work();
    } catch (error) {
      if (repeats >= MOST_REPEATS || !isBusy(error)) throw error;
    }
    await sleep(REPEAT_MS);
  }
}
