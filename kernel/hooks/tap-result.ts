// Checks whether the result of a tap has the shape that the owner of the hook needs.
import { inspect, type Inspected } from '../../schema/inspect.js';
import type { Schema } from '../../schema/shape.js';
import { inspectInSlices } from '../../schema/slices.js';

/** An issue may quote the value. */
const MAX_LENGTH = 500;

function validValue(result: Inspected<unknown>, what: string): unknown {
  if ('value' in result) return result.value;
  const said = result.issues.map(({ message }) => message).join('; ');
  throw new Error(`${what} does not fit: ${said.slice(0, MAX_LENGTH)}`);
}

/** Returns the value in the form of its shape; throws when it does not fit. */
export function checkTapResult(shape: Schema | undefined, value: unknown, what: string): unknown {
  if (value instanceof Promise) {
    value.catch(() => undefined);
    throw new Error(`${what} is a promise; wait for it first`);
  }
  return shape ? validValue(inspect(shape, value, { first: true }), what) : value;
}

/** The same for values that may be large. */
export const checkTapResultInSlices = async (shape: Schema | undefined, value: unknown, what: string) =>
  shape ? validValue(await inspectInSlices(shape, value, { first: true }), what) : value;
