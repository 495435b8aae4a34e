// Compares readings of a core's counters with what has been counted.
import type { CoreCounters } from '../engine/contract.js';

/** A counter of one core process: bytes since its start. */
export interface Reading {
  readonly epoch: string;
  readonly up: number;
  readonly down: number;
}
/** Counters of all outbounds at one moment. */
export type OutboundsReading = Pick<CoreCounters, 'epoch' | 'outbounds'>;
/** Bytes that an outbound moved since its last reading, and the reading that includes them. */
export interface Moved {
  readonly tag: string;
  readonly up: number;
  readonly down: number;
  readonly reading: Reading;
}

export const sum = (total: number, more: number): number => Math.min(total + more, Number.MAX_SAFE_INTEGER);

/**
 * Returns the outbounds that moved bytes, by readings in their order. The core's counters only grow while it runs; one that
 * fell in the same core started again at zero, so all of it counts. `last` returns the stored reading of a counter.
 */
export function movedSince(
  readings: readonly OutboundsReading[],
  last: (tag: string, epoch: string) => Reading | undefined,
): Moved[] {
  const found = new Map<string, Moved>();
  for (const [index, { epoch, outbounds }] of readings.entries()) {
    const later = new Set(readings.slice(index + 1).map((one) => one.epoch));
    later.delete(epoch);
    for (const { tag, up, down } of outbounds) {
      const before = found.get(tag);
      const known = before?.reading ?? last(tag, epoch);
      // A commit whose answer was lost has written a later reading, and these bytes with it.
      if (known && later.has(known.epoch)) continue;
      const isSame = known?.epoch === epoch && up >= known.up && down >= known.down;
      const moved = { up: up - (isSame ? known.up : 0), down: down - (isSame ? known.down : 0) };
      if (moved.up + moved.down === 0) continue;
      found.set(tag, {
        tag,
        up: sum(before?.up ?? 0, moved.up),
        down: sum(before?.down ?? 0, moved.down),
        reading: { epoch, up, down },
      });
    }
  }
  return [...found.values()];
}
