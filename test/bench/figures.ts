// What a measured panel says of itself (measured-entry.ts), and the time it shares with the bench.
export const FIGURES = 'figures of the bench';
export const COLLECTED = 'garbage collected for the bench';

export interface Figures {
  /** when at least one call that changes the core was under way, by `now()` */
  readonly spans: readonly (readonly [begin: number, end: number])[];
  /** how many such calls began */
  readonly calls: number;
  /** longest time in which the event loop did nothing else */
  readonly blockedMs: number;
  /** the same by CPU time of the main thread, which other work on the machine does not lengthen; 0 unless it was asked for (`HELD`) */
  readonly heldMs: number;
}
/** Name of an environment variable: `on` for a look at the CPU time every few ms. */
export const HELD = 'WEIR_BENCH_HELD';

/** Milliseconds since the boot of the machine: the same in all its processes. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** How much of begin..end lies in the spans, which do not overlap. */
export const within = (spans: Figures['spans'], begin: number, end: number): number =>
  spans.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, end) - Math.max(from, begin)), 0);

export const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
