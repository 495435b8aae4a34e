// The tiers of a series: finer points for the last hour, coarser ones for a month; and which tier answers a read.
import type { SeriesKind } from './contract.js';

export interface Tier {
  /** ms of one point */
  readonly step: number;
  /** points in its ring; a few more than the promised time needs, so that "the last hour" always fits */
  readonly slots: number;
}
export const TIERS: readonly Tier[] = [
  { step: 2_000, slots: 1_860 },
  { step: 60_000, slots: 2_940 },
  { step: 300_000, slots: 8_928 },
];
/** The greatest age of a sample, in ms. */
export const OLDEST_MS = 30 * 86_400_000;

/** Bytes of one point on disk; `slot.ts` has the layout. */
export const SLOT_BYTES: Readonly<Record<SeriesKind, number>> = { gauge: 36, counter: 16 };
/** Bytes before the points of a key: its name. */
export const KEY_HEADER_BYTES = 512;

const SLOTS = TIERS.reduce((sum, { slots }) => sum + slots, 0);
/** Returns the bytes of one key of a series on disk when all its points are written. */
export const bytesOfKey = (kind: SeriesKind): number => KEY_HEADER_BYTES + SLOTS * SLOT_BYTES[kind];

export const bucketOf = (at: number, { step }: Tier): number => Math.floor(at / step);

export interface ReadPlan {
  /** index into TIERS */
  readonly tier: number;
  /** ms between points, a multiple of the tier's */
  readonly step: number;
  /** start of the first point, and of the last */
  readonly first: number;
  readonly last: number;
}

/** Chooses how to read a span. Every sample is in all tiers, so the coarsest one that is fine enough reads least. */
export function planRead(
  { from, to, step, most }: { from: number; to: number; step: number; most: number },
  now: number,
): ReadPlan {
  const covers = (tier: Tier): boolean => bucketOf(from, tier) > bucketOf(now, tier) - tier.slots;
  const wanted = Math.max(step, (to - from) / most);
  const fit = TIERS.map((tier, index) => ({ tier, index })).filter(({ tier }) => covers(tier));
  const chosen = fit.filter(({ tier }) => tier.step <= wanted).at(-1) ??
    fit[0] ?? { index: TIERS.length - 1 };
  const base = (TIERS[chosen.index] as Tier).step;
  const planned = (steps: number): ReadPlan => {
    const width = base * steps;
    const start = (at: number): number => Math.floor(at / width) * width;
    return { tier: chosen.index, step: width, first: start(from), last: start(to) };
  };
  // A span may touch one point more than its length says.
  let steps = Math.max(1, Math.ceil(wanted / base));
  while ((planned(steps).last - planned(steps).first) / planned(steps).step >= most) steps++;
  return planned(steps);
}
