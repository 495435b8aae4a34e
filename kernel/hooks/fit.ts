// Whether what a tap gives is what the owner of the hook can use.
import { inspect } from '../../schema/inspect.js';
import type { Schema } from '../../schema/shape.js';

/** A finding may quote the value. */
const LONGEST = 500;

/** The value as its shape makes it; throws when it does not fit. */
export function fitting(shape: Schema | undefined, value: unknown, what: string): unknown {
  if (value instanceof Promise) {
    value.catch(() => undefined);
    throw new Error(`${what} is a promise; wait for it first`);
  }
  if (!shape) return value;
  const result = inspect(shape, value, { first: true });
  if ('value' in result) return result.value;
  const said = result.issues.map(({ message }) => message).join('; ');
  throw new Error(`${what} does not fit: ${said.slice(0, LONGEST)}`);
}
