// Waiting for a condition with a deadline that only a broken panel meets.
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 30_000;

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; !(await condition()); await sleep(10)) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${PATIENCE_MS / 1000} s: ${what}`);
  }
}
