// Whether the database works. Its failure is one event of the whole panel and no plugin's fault: the log reports when it
// begins and when it ends, and callers get a sentence.
import { Outage } from '../../timing/outage.js';
import { isPanelError, kernelErrors, messageOf } from '../errors/errors.js';
import type { Log } from '../log/log.js';

/** `busy`: others wrote the same rows at the same moment; it is over already. */
export type StorageProblem = 'full' | 'damaged' | 'readOnly' | 'away' | 'taken' | 'busy';
/** What a driver says of an error; undefined for one that its statement caused. */
export type Classify = (error: unknown) => StorageProblem | undefined;

const ERRORS = {
  full: kernelErrors.STORAGE,
  damaged: kernelErrors.DATABASE_DAMAGED,
  readOnly: kernelErrors.DATABASE_READ_ONLY,
  away: kernelErrors.DATABASE_AWAY,
  taken: kernelErrors.DATABASE_TAKEN,
  busy: kernelErrors.DATABASE_BUSY,
} as const;
/** Longer than the pauses of frequent jobs: on a full disk a small write may succeed while theirs fail. */
const QUIET_MS = 6_000;

export class Storage {
  readonly #log: Log;
  readonly #classify: Classify;
  readonly #outage = new Outage(QUIET_MS);
  #isTaken = false;

  constructor(classify: Classify, log: Log) {
    this.#classify = classify;
    this.#log = log;
  }

  get isFailing(): boolean {
    return this.#outage.isOn;
  }

  /** Runs work of the database; `unknown` is what an error means that the driver does not know. */
  async run<T>(work: () => Promise<T>, unknown?: StorageProblem): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.named(error, unknown);
    }
  }

  /** Returns the error for callers if the database failed, else the same error. */
  named(error: unknown, unknown?: StorageProblem): unknown {
    const problem = isPanelError(error) ? undefined : (this.#classify(error) ?? unknown);
    if (!problem) return error;
    if (problem === 'busy') return ERRORS.busy(undefined, { cause: error, headers: { 'Retry-After': '1' } });
    const isTaken = problem === 'taken';
    // Found only after a connection was lost, and it does not end by itself.
    if (this.#outage.failed() || (isTaken && !this.#isTaken))
      this.#log.error('the database fails; nothing can be saved until it works again', {
        problem,
        reason: messageOf(error),
      });
    this.#isTaken = isTaken;
    return ERRORS[problem](undefined, { cause: error });
  }

  /** A write was committed. */
  worked(): void {
    const ms = this.#outage.worked();
    if (ms !== undefined) this.#log.info('the database works again', { afterSeconds: Math.round(ms / 1000) });
  }
}
