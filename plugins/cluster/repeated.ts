// Repeats what has lost against a write of another panel.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Database,
  type ErrorFactory,
  kernelErrors,
  storageFailure,
  type Tx,
} from '../../kernel/index.js';

const MOST_ATTEMPTS = 6;
const PAUSE_MS = 20;
/** A wait for a row that took so long is not repeated. */
const LONG_WAIT_MS = 5_000;

const isFailure = (error: unknown, { code }: ErrorFactory): boolean => {
  const failure = storageFailure(error);
  return failure !== undefined && failure !== 'disk' && failure.code === code;
};
/** Whether a write was refused because others had changed the same a moment before. */
export const isBusy = (error: unknown): boolean => isFailure(error, kernelErrors.DATABASE_BUSY);
/** Whether the database did not answer. */
export const isAway = (error: unknown): boolean => isFailure(error, kernelErrors.DATABASE_AWAY);

/** Runs it until it does not lose, six times at most, each time after a longer pause and after `prepare`. */
export async function repeated<T>(
  run: () => Promise<T>,
  prepare: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const began = performance.now();
    try {
      return await run();
    } catch (error) {
      const isOver = attempt === MOST_ATTEMPTS || performance.now() - began > LONG_WAIT_MS;
      if (isOver || !isBusy(error)) throw error;
      await sleep(Math.random() * PAUSE_MS * 2 ** attempt);
      await prepare();
    }
  }
}

/** A write of its own that is repeated; it plans inside its transaction, with what others have written meanwhile. */
export const repeatedWrite = <T>(db: Pick<Database, 'write'>, work: (tx: Tx) => Promise<T>): Promise<T> =>
  repeated(() => db.write(work));
