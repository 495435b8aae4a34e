// Readings that could not be written. While their core runs, its counters hold the bytes, and the next poll that is
// written counts them. These are for a core that ends before.
import type { Reading } from './baselines.js';

type LastReading = Pick<Reading, 'epoch' | 'up' | 'down'> | undefined;

export class UnsavedReadings {
  /** the last reading of each counter, by epoch, in the order of the cores */
  readonly #byEpoch = new Map<string, Map<string, Reading>>();

  hold(readings: readonly Reading[]): void {
    for (const reading of readings) {
      let ofEpoch = this.#byEpoch.get(reading.epoch);
      if (!ofEpoch) this.#byEpoch.set(reading.epoch, (ofEpoch = new Map()));
      ofEpoch.set(`${reading.inboundId}.${reading.clientId}`, reading);
    }
  }

  get isEmpty(): boolean {
    return this.#byEpoch.size === 0;
  }

  clear(): void {
    this.#byEpoch.clear();
  }

  /** Returns the bytes of cores before this one that the database lacks; `stored` is its last reading of a counter. */
  ofEarlierCores(
    epoch: string,
    stored: (clientId: number, inboundId: number) => LastReading,
  ): Omit<Reading, 'epoch'>[] {
    const epochs = [...this.#byEpoch.keys(), epoch];
    const found: Omit<Reading, 'epoch'>[] = [];
    for (const [of, readings] of this.#byEpoch) {
      if (of === epoch) continue;
      for (const { clientId, inboundId, up, down } of readings.values()) {
        const last = stored(clientId, inboundId);
        // A commit whose answer was lost may have written a later one.
        if (last && epochs.indexOf(last.epoch) > epochs.indexOf(of)) continue;
        const same = last?.epoch === of && up >= last.up && down >= last.down;
        const delta = { up: up - (same ? last.up : 0), down: down - (same ? last.down : 0) };
        if (delta.up + delta.down > 0) found.push({ clientId, inboundId, ...delta });
      }
    }
    return found;
  }
}
