// Reads the core's counters of outbounds, and does what must not happen between a reading and its write.
import { type Log, messageOf, type Principal, SerialQueue } from '../../kernel/index.js';
import { repeated } from '../cluster/contract.js';
import type { CoreCounters, CoreOutboundsApi, EngineApi } from '../engine/contract.js';
import type { OutboundBytes } from './contract.js';
import { errors } from './errors.js';
import type { CountedOutbound } from './outbound-rows.js';
import type { OutboundStore } from './store.js';

interface Needs {
  readonly log: Log;
  readonly engine: Pick<EngineApi, 'counters'>;
  readonly outbounds: CoreOutboundsApi;
  readonly store: OutboundStore;
}

export class OutboundPoll {
  readonly #log: Log;
  readonly #engine: Pick<EngineApi, 'counters'>;
  readonly #outbounds: CoreOutboundsApi;
  readonly #store: OutboundStore;
  /** Two polls that overlapped would both count from the same reading. */
  readonly #queue = new SerialQueue();
  #isFailing = false;

  constructor({ log, engine, outbounds, store }: Needs) {
    this.#log = log;
    this.#engine = engine;
    this.#outbounds = outbounds;
    this.#store = store;
  }

  run(): Promise<void> {
    return this.#queue.run(() => this.#read());
  }

  /** See `OutboundCounts`. */
  adopt(counts: readonly OutboundBytes[], who: Principal): Promise<void> {
    return this.#turn(() => this.#store.adopt(counts, who));
  }

  /** Counts the last reading of a core that has stopped. */
  last(counters: CoreCounters): Promise<void> {
    return this.#queue.run(() => this.#store.count(counters));
  }

  async #read(): Promise<void> {
    try {
      const counters = await this.#engine.counters('outbounds');
      this.#isFailing = false;
      if (counters || this.#store.hasUnsaved) await this.#store.count(counters);
    } catch (error) {
      if (!this.#isFailing)
        this.#log.warn('the traffic of outbounds could not be counted; the core keeps counting; retrying', {
          reason: messageOf(error),
        });
      this.#isFailing = true;
    }
  }

  /** Without a tag, resets all. What moved until now is counted first, so it does not appear after the reset. Resolves with the number. */
  reset(who: Principal, tag?: string): Promise<number> {
    return this.#turn(async () => {
      const chosen = (await this.#counted()).filter((row) => tag === undefined || row.tag === tag);
      if (tag !== undefined && chosen.length === 0 && !(await this.#outbounds.tags()).has(tag))
        throw errors.NO_OUTBOUND(`there is no outbound ${JSON.stringify(tag)}, and none was counted`, {
          path: 'tag',
        });
      await this.#store.reset(chosen, who);
      return chosen.length;
    });
  }

  /** Removes outbounds that the config does not have. Resolves with their tags. */
  prune(who: Principal): Promise<string[]> {
    return this.#turn(async () => {
      const configured = await this.#outbounds.tags();
      const unused = (await this.#counted()).filter(({ tag }) => !configured.has(tag));
      await this.#store.remove(unused, who);
      return unused.map(({ tag }) => tag);
    });
  }

  /** Other panels of the database count all the time. */
  #turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(() => repeated(work));
  }

  async #counted(): Promise<CountedOutbound[]> {
    await this.#read();
    if (this.#store.hasUnsaved) throw errors.NOT_WRITTEN();
    return this.#store.list();
  }
}
