// Readings that could not be written: their core may be gone when the database is back. One of each core is held, and more
// only where a counter began again at zero.
import type { OutboundsReading } from './counting.js';

type Counters = ReadonlyMap<string, OutboundsReading['outbounds'][number]>;

export class HeldReadings {
  /** in their order */
  #held: { readonly epoch: string; readonly counters: Counters }[] = [];

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  add({ epoch, outbounds }: OutboundsReading): void {
    const moved = outbounds.filter(({ up, down }) => up + down > 0);
    const last = this.#held.at(-1);
    const isNext =
      last?.epoch === epoch &&
      outbounds.every(({ tag, up, down }) => {
        const before = last.counters.get(tag);
        return !before || (up >= before.up && down >= before.down);
      });
    const counters = new Map([
      ...(isNext ? last.counters : []),
      ...moved.map((one) => [one.tag, one] as const),
    ]);
    if (isNext) this.#held[this.#held.length - 1] = { epoch, counters };
    else if (counters.size > 0) this.#held.push({ epoch, counters });
  }

  clear(): void {
    this.#held = [];
  }

  /** Returns what is held, and then this one. */
  before(reading: OutboundsReading | undefined): OutboundsReading[] {
    const held = this.#held.map(({ epoch, counters }) => ({ epoch, outbounds: [...counters.values()] }));
    return reading ? [...held, reading] : held;
  }
}
