// What the end of a soak says: of figures that were taken all the time, the first part against the last.
import type { Moved } from './users-process.js';

export interface Verdict {
  readonly what: string;
  readonly found: string;
  readonly wanted: string;
  readonly isGood: boolean;
}

/** `at` in ms since the begin. */
export interface Sample {
  readonly at: number;
  readonly value: number;
}

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ??
  Number.NaN;

/** By least squares: how much the value grows in a ms. */
export function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [at, value] = [mean((one) => one.at), mean((one) => one.value)];
  const spread = samples.reduce((sum, one) => sum + (one.at - at) ** 2, 0);
  return samples.reduce((sum, one) => sum + (one.at - at) * (one.value - value), 0) / spread;
}

/** Nothing failed; names the first failures. */
export const noFailures = (failures: readonly string[], done: number): Verdict => ({
  what: 'failures',
  found: [
    `${failures.length} beside ${done.toLocaleString('en')} that went well`,
    ...failures.slice(0, 3),
  ].join('; '),
  wanted: 'none',
  isGood: failures.length === 0 && done > 0,
});

/** The line through all samples after `from` grows by no more than this share of their mean. */
export function flatMemory(samples: readonly Sample[], from: number, share: number): Verdict {
  const late = samples.filter(({ at }) => at >= from);
  const span = (late.at(-1)?.at ?? 0) - (late[0]?.at ?? 0);
  const mean = late.reduce((sum, { value }) => sum + value, 0) / late.length;
  const grown = slope(late) * span;
  return {
    what: 'memory after the first part',
    found: `${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB in ${(span / 60_000).toFixed(1)} min at ${mean.toFixed(0)} MiB, by the slope`,
    wanted: `at most +${(100 * share).toFixed(0)} %`,
    isGood: late.length > 2 && grown <= share * mean,
  };
}

export interface Held {
  /** how many times the first part's */
  readonly times: number;
  /** and so many ms beside: small figures jump */
  readonly more: number;
}

/** The 99th percentile of the last part against the first. */
export function held(what: string, samples: readonly Sample[], part: number, { times, more }: Held): Verdict {
  const end = samples.at(-1)?.at ?? 0;
  const of = (some: readonly Sample[]) =>
    percentile(
      some.map(({ value }) => value),
      0.99,
    );
  const first = of(samples.filter(({ at }) => at < part));
  const last = of(samples.filter(({ at }) => at > end - part));
  return {
    what: `99th percentile, ${what}`,
    found: `${first.toFixed(1)} ms at first, ${last.toFixed(1)} ms at last`,
    wanted: `at most ${times} times and ${more} ms`,
    isGood: last <= first * times + more,
  };
}

/** Each user's bytes are counted as they were moved, to the byte, in both directions. */
export function sameBytes(moved: readonly Moved[], counted: readonly Moved[]): Verdict {
  const sum = (all: readonly Moved[]) => all.reduce((total, { up, down }) => total + up + down, 0);
  const different = moved.flatMap(({ up, down }, n) =>
    up === counted[n]?.up && down === counted[n]?.down
      ? []
      : [`user ${n}: moved ${up} up and ${down} down, counted ${counted[n]?.up} and ${counted[n]?.down}`],
  );
  return {
    what: `bytes of ${moved.length} users`,
    found: [
      `${sum(moved).toLocaleString('en')} moved, ${sum(counted).toLocaleString('en')} counted`,
      ...different.slice(0, 3),
    ].join('; '),
    wanted: 'equal for each user, to the byte',
    isGood: different.length === 0 && sum(moved) > 0,
  };
}
