// Durations as text: a number and a unit.
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 2 ** 31 - 1;

/** Milliseconds of `500ms`, `5s`, `10m`, `1h` or `1d`; throws for any other text, and for durations longer than a timer supports. */
export function durationOf(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined)
    throw new Error(`"${text}" is not a valid duration; write a number and ms, s, m, h or d, like 5s`);
  const ms = Number(amount) * (UNITS[unit] ?? 1);
  // For a longer duration, or 0, Node's timer would fire every millisecond.
  if (ms < 1 || ms > LONGEST_MS)
    throw new Error(`"${text}" is not a duration that a timer supports; use 1ms to 24d`);
  return ms;
}
