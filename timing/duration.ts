// Durations as people write them: a number and a unit.
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 2 ** 31 - 1;

/** Milliseconds of `500ms`, `5s`, `10m`, `1h` or `1d`; throws where the text is none, or is longer than a timer can keep. */
export function durationOf(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined)
    throw new Error(`"${text}" is no duration; write a number and ms, s, m, h or d, like 5s`);
  const ms = Number(amount) * (UNITS[unit] ?? 1);
  // A timer of Node that is asked for more (or for nothing) fires every millisecond.
  if (ms < 1 || ms > LONGEST_MS)
    throw new Error(`"${text}" is no duration that a timer can keep; it takes 1ms to 24d`);
  return ms;
}
