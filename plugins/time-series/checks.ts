// Rejects invalid arguments, with a message that names the series and its plugin.
import type { DailySeries, Series, Span } from './contract.js';
import { OLDEST_MS } from './tiers.js';

/** Above it, sums of a few points lose too much precision. */
const GREATEST = 1e18;
const AHEAD_MS = 60_000;
const LONGEST_KEY = 128;
const MOST_POINTS = 2_000;
const LARGEST_STEP = 30 * 86_400_000;
const MOST_AMOUNTS = 200_000;
const MOST_FORGOTTEN = 1_000;

const isCount = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;

export function refusal({ name }: { readonly name: string }, problem: string): RangeError {
  return new RangeError(`series ${name} of plugin ${name.slice(0, name.indexOf('.'))}: ${problem}`);
}

/** A value for a message, cut to 40 characters. */
const shown = (value: unknown): string =>
  (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 40);

export function checkKey(series: Series, key: unknown): void {
  if (typeof key !== 'string') throw refusal(series, `the key must be text, not ${typeof key}`);
  if (key.length > LONGEST_KEY)
    throw refusal(series, `the key ${shown(key)} is longer than ${LONGEST_KEY} characters`);
  // It would be read from the file as another key.
  if (/\p{Surrogate}/u.test(key))
    throw refusal(series, 'the key holds half a surrogate pair, which is not a character');
}

export function checkSample(series: Series, value: unknown, at: unknown, now: number): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > GREATEST)
    throw refusal(series, `the value ${shown(value)} must be a finite number of at most 1e18`);
  if (series.kind === 'counter' && value < 0)
    throw refusal(series, `the value ${shown(value)} must not be below 0, because the series is a counter`);
  if (typeof at !== 'number' || !(at <= now + AHEAD_MS && at > now - OLDEST_MS && at >= 0))
    throw refusal(
      series,
      `the time ${shown(at)} must be Unix ms, at most a minute ahead and thirty days back from ${now}`,
    );
}

/** Fills in what a span leaves out. */
export function checkedSpan(
  series: Series,
  { from, to, step = 0, most = 500 }: Span,
  now: number,
): { from: number; to: number; step: number; most: number } {
  const end = to ?? now;
  if (!Number.isSafeInteger(from) || from < 0 || !Number.isSafeInteger(end) || end < from)
    throw refusal(series, `from ${shown(from)} and to ${shown(end)} must be Unix ms, from not after to`);
  if (end > now + AHEAD_MS) throw refusal(series, `to ${shown(end)} is in the future`);
  if (step !== 0 && !isCount(step, LARGEST_STEP))
    throw refusal(series, `step ${shown(step)} must be 1 to ${LARGEST_STEP} ms`);
  if (!isCount(most, MOST_POINTS))
    throw refusal(series, `most ${shown(most)} must be 1 to ${MOST_POINTS} points`);
  return { from, to: end, step, most };
}

/** For loops of the caller, which yields between the calls. */
export function checkAmount(series: DailySeries, key: unknown, amount: unknown): void {
  checkKey(series, key);
  if (!Number.isSafeInteger(amount) || (amount as number) < 0)
    throw refusal(series, `the amount ${shown(amount)} must be a whole number, not below 0`);
}

export function checkAmounts(series: DailySeries, amounts: unknown): void {
  if (!Array.isArray(amounts) || amounts.length > MOST_AMOUNTS)
    throw refusal(series, `the amounts must be a list of at most ${MOST_AMOUNTS}`);
}

export function checkLast(series: DailySeries, last: unknown): void {
  if (!isCount(last, series.days))
    throw refusal(series, `${shown(last)} days cannot be read; the series keeps ${series.days}`);
}

export function checkForgotten(series: DailySeries, keys: readonly string[]): void {
  if (!Array.isArray(keys) || keys.length > MOST_FORGOTTEN)
    throw refusal(series, `the keys must be a list of at most ${MOST_FORGOTTEN}`);
  for (const key of keys) checkKey(series, key);
}
