// Checks values that come from plugins instead of callers: whether JSON can represent them; long lists are checked by hand.
import Joi from 'joi';
import { DEEPEST } from './depth.js';
import { custom, type Schema } from './shape.js';

/** More than any known config or row. */
const MOST_VALUES = 200_000;
/** Leaves room for an object around a body of the greatest allowed depth. */
const MOST_LEVELS = 2 * DEEPEST;

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
};

/** Why a value would not survive JSON; undefined when it would. Keys without a value are allowed. */
export function whyNotJson(value: unknown): string | undefined {
  let values = 0;
  const look = (at: unknown, path: string, depth: number): string | undefined => {
    if (++values > MOST_VALUES) return `it holds more than ${MOST_VALUES} values`;
    if (at === null || typeof at === 'string' || typeof at === 'boolean') return undefined;
    if (typeof at === 'number' && Number.isFinite(at)) return undefined;
    if (typeof at !== 'object' || !isPlain(at))
      return `${path || 'it'} is ${typeof at === 'object' ? `a ${at.constructor?.name ?? 'foreign object'}` : String(at).slice(0, 20)}, which JSON cannot represent`;
    if (depth >= MOST_LEVELS) return `it nests deeper than ${MOST_LEVELS} levels`;
    for (const key of Object.keys(at)) {
      const inner: unknown = (at as Readonly<Record<string, unknown>>)[key];
      if (inner === undefined && !Array.isArray(at)) continue;
      const problem = look(inner, path ? `${path}.${key}` : key, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return look(value, '', 0);
}

const checkedBy = (problem: (value: unknown) => string | undefined) =>
  Joi.any().custom((value: unknown, helpers) => {
    const found = problem(value);
    return found === undefined ? value : helpers.error('any.custom', { error: new Error(found) });
  });

/** An object that JSON can represent: plain objects and lists of text, finite numbers, booleans and null, at most 200 levels deep and 200,000 values in all. */
export const jsonRecord = <T = Readonly<Record<string, unknown>>>(): Schema<T> =>
  custom(
    checkedBy((value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? whyNotJson(value)
        : 'it must be an object',
    ),
  );

/** A list whose items a function checks: for long lists on hot paths, where joi would take a hundred times as long. */
export const checkedList = <T>(
  most: number,
  problem: (item: unknown) => string | undefined,
): Schema<readonly T[]> =>
  custom(
    checkedBy((value) => {
      if (!Array.isArray(value)) return 'it must be a list';
      if (value.length > most) return `it has ${value.length} items; at most ${most} are allowed`;
      // By index: a hole in a list is `undefined` there and for `find`, but `forEach` skips it.
      for (let i = 0; i < value.length; i++) {
        const found = problem(value[i]);
        if (found !== undefined) return `item ${i}: ${found}`;
      }
      return undefined;
    }),
  );
