// Last readings on their way to those who count. Until they have arrived, no other reading of the stream may overtake them.
import { type Log, messageOf } from '../../kernel/index.js';
import type { CounterReading, CountingApi } from '../traffic/contract.js';
import { inTime } from './in-time.js';

/** Name of the source, which is stored with the readings. */
export const SOURCE = 'sidecars';

/** How long what ends a counter waits for its last reading to be written: usually it takes some ms. */
const SOON_MS = 300;

export class Settling {
  readonly #counting: CountingApi;
  readonly #source: string;
  readonly #log: Log;
  #underWay = 0;
  /** number of those that ever were: a reading that began before one of them is out of date */
  turn = 0;

  constructor(of: { counting: CountingApi; source: string; log: Log }) {
    this.#counting = of.counting;
    this.#source = of.source;
    this.#log = of.log;
  }

  get isUnderWay(): boolean {
    return this.#underWay > 0;
  }

  /**
   * Brings readings to those who count, and waits a little until they are written: if the panel is killed after the counter
   * has gone, it is known. A poll that waits for the caller goes on after that time.
   */
  async settleSoon(readings: readonly CounterReading[]): Promise<void> {
    await inTime(SOON_MS, 'counting a last reading', () => this.settle(readings)).catch(() => undefined);
  }

  /** Brings readings to those who count, in the order of the calls. Never rejects. A poll may wait for the caller, so the caller must not wait for this in what a poll calls. */
  async settle(readings: readonly CounterReading[]): Promise<void> {
    this.#underWay += 1;
    this.turn += 1;
    try {
      await this.#counting.last(this.#source, readings);
    } catch (error) {
      this.#log.error('a last reading of counters is lost', {
        streams: readings.map(({ stream }) => stream),
        reason: messageOf(error),
      });
    } finally {
      this.#underWay -= 1;
    }
  }
}
