// The releases of the core, read again after a while. While their source is down, the last list serves.
import type { Clock, Log } from '../../kernel/index.js';
import { messageOf } from '../../kernel/index.js';
import type { Release, ReleaseSource } from './release-source.js';

const FRESH_MS = 15 * 60_000;
/** After a failure: a source that is down is not asked by each page. */
const RETRY_MS = 60_000;

export class ReleaseList {
  readonly #source: ReleaseSource;
  readonly #clock: Clock;
  readonly #log: Log;
  #list: readonly Release[] = [];
  #until = 0;
  #asking: Promise<readonly Release[]> | undefined;

  constructor({ source, clock, log }: { source: ReleaseSource; clock: Clock; log: Log }) {
    this.#source = source;
    this.#clock = clock;
    this.#log = log;
  }

  /** Newest first. Rejects when the source cannot be read and never could. */
  async all(): Promise<readonly Release[]> {
    if (this.#clock.now() < this.#until) return this.#list;
    return this.ask();
  }

  /** Reads the source now, once for all who wait. */
  ask(): Promise<readonly Release[]> {
    return (this.#asking ??= this.#read().finally(() => (this.#asking = undefined)));
  }

  /** The source has changed. */
  forget(): void {
    this.#list = [];
    this.#until = 0;
  }

  async #read(): Promise<readonly Release[]> {
    try {
      this.#list = await this.#source.releases();
      this.#until = this.#clock.now() + FRESH_MS;
    } catch (error) {
      if (this.#list.length === 0) throw error;
      this.#until = this.#clock.now() + RETRY_MS;
      this.#log.warn('the releases of the core cannot be read; using the last list', {
        reason: messageOf(error),
      });
    }
    return this.#list;
  }
}
