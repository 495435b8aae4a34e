// Checks whether what other code returned has the shape that was asked for.
import { inspect, type Inspected, sentenceOf } from './inspect.js';
import type { Schema } from './shape.js';
import { inspectInSlices } from './slices.js';

/** An issue may quote the value. */
const MAX_LENGTH = 500;

function validValue(result: Inspected<unknown>, what: string): unknown {
  if ('value' in result) return result.value;
  const said = sentenceOf(result.issues);
  throw new Error(`${what} does not fit: ${said.slice(0, MAX_LENGTH)}`);
}

/** Returns the value in the form of its shape; throws when it does not fit. */
export function checkResult(shape: Schema | undefined, value: unknown, what: string): unknown {
  if (value instanceof Promise) {
    value.catch(() => undefined);
    throw new Error(`${what} is a promise; wait for it first`);
  }
  return shape ? validValue(inspect(shape, value, { first: true }), what) : value;
}

/** The same for values that may be large. */
export const checkResultInSlices = async (shape: Schema | undefined, value: unknown, what: string) =>
  shape ? validValue(await inspectInSlices(shape, value, { first: true }), what) : value;
