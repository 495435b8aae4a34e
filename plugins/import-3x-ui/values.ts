// Values of rows of 3x-ui, in the types of this panel. What has another type is handed on, for the owner's schema to refuse.
import type { SourceRow } from './source/known-tables.js';

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Nobody moves a petabyte; a larger number is a lie, and the sum of many would no longer be exact. */
const LARGEST_COUNT = 2 ** 50;
/** A counter of bytes, or a time: nothing, a fraction and what is below zero are zero. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), LARGEST_COUNT) : 0;
/** SQLite has no booleans; null is what the column has by default. */
export const flagOf = (value: unknown, byDefault = false): boolean =>
  value === null || value === undefined
    ? byDefault
    : value === 1 || value === true || value === '1' || value === 'true';

/** JSON of a column; an invalid text is handed on. */
export function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A number of a row that may be missing. */
export const numberIn = (row: SourceRow | undefined, name: string): number | undefined => {
  const value = row?.[name];
  return typeof value === 'number' ? value : undefined;
};

/** `some_column` as `someColumn`. */
const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, c: string) => c.toUpperCase());
/** The fields of a row under the names of the API; null is left out. */
export const fieldsOf = (row: SourceRow, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = row[name];
      return value === null || value === undefined ? [] : [[camel(name), value]];
    }),
  );
/** Seconds or milliseconds, as versions differ. */
export const secondsOf = (value: unknown): number => {
  const time = countOf(value);
  return time >= 100_000_000_000 ? Math.floor(time / 1000) : time;
};
