// Compares a reading of the core's counters with what has been counted.
import type { CoreCounters } from '../engine/contract.js';

/** What is counted of one outbound, and the reading of its counter that this includes. */
export interface Counted {
  readonly tag: string;
  /** bytes since the last reset */
  readonly up: number;
  readonly down: number;
  readonly epoch: string;
  /** bytes since the start of that core */
  readonly readUp: number;
  readonly readDown: number;
  readonly isRemoved: boolean;
}

const sum = (total: number, more: number): number => Math.min(total + more, Number.MAX_SAFE_INTEGER);

/**
 * Returns the outbounds that moved bytes, with these bytes added. The core's counters only grow while it runs; one that
 * fell in the same core started again at zero, so all of it counts. Every result includes all that `known` had, so it can
 * be written again, and instead of a result that could not be written.
 */
export function afterReading(
  { epoch, outbounds }: Pick<CoreCounters, 'epoch' | 'outbounds'>,
  known: (tag: string) => Counted | undefined,
): Counted[] {
  return outbounds.flatMap(({ tag, up, down }) => {
    const last = known(tag);
    const isSame = last?.epoch === epoch && up >= last.readUp && down >= last.readDown;
    const moved = { up: up - (isSame ? last.readUp : 0), down: down - (isSame ? last.readDown : 0) };
    if (moved.up + moved.down === 0) return [];
    return [
      {
        tag,
        up: sum(last?.up ?? 0, moved.up),
        down: sum(last?.down ?? 0, moved.down),
        epoch,
        readUp: up,
        readDown: down,
        isRemoved: false,
      },
    ];
  });
}
