// Turns the findings of a schema into one error for the caller.
import type Joi from 'joi';
import { hiddenCharacter } from '../../schema/hidden.js';
import { inspect, type Inspected, sentenceOf, type ValidateOptions } from '../../schema/inspect.js';
import type { Static } from '../../schema/shape.js';
import { inspectInSlices } from '../../schema/slices.js';
import { kernelErrors } from './errors.js';

function orRefuse<T>(result: Inspected<T>): T {
  if ('value' in result) return result.value;
  const { issues, more } = result;
  throw kernelErrors.INVALID(sentenceOf(issues) + more, { issues });
}

/** Returns the value, or throws a 400 whose message and `issues` name the invalid fields. */
export const validate = <S extends Joi.Schema>(
  schema: S,
  value: unknown,
  options: ValidateOptions = {},
): Static<S> => orRefuse(inspect(schema, value, options));

/** Works as `validate`, for values that may be large. */
export const validateInSlices = async <S extends Joi.Schema>(
  schema: S,
  value: unknown,
  options: ValidateOptions = {},
): Promise<Static<S>> => orRefuse(await inspectInSlices(schema, value, options));

/** Throws KERNEL_INVALID that names field and character. A `label` is only displayed; a `name` is also an identifier. */
export function refuseHidden(path: string, text: string, kind: 'name' | 'label'): void {
  const found = hiddenCharacter(text, kind);
  if (found !== undefined)
    throw kernelErrors.INVALID(`${path} holds the invisible character ${found}; leave it out`, { path });
}
