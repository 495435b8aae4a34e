// Points of several series on one axis of time.

export interface Point {
  /** Unix seconds */
  readonly t: number;
  readonly v: number;
}
export interface Aligned {
  readonly times: readonly number[];
  /** one list for each series; null where it has no point */
  readonly lines: readonly (readonly (number | null)[])[];
}

export function alignedPoints(series: readonly (readonly Point[])[]): Aligned {
  const times = [...new Set(series.flatMap((points) => points.map(({ t }) => t)))].sort((a, b) => a - b);
  const lines = series.map((points) => {
    const values = new Map(points.map(({ t, v }) => [t, v]));
    return times.map((t) => values.get(t) ?? null);
  });
  return { times, lines };
}
