// Runs a schema over a value and turns joi's findings into issues that name the field.
import type Joi from 'joi';
import { kernelErrors, type Issue } from '../errors/errors.js';
import type { Static } from './shape.js';

export interface ValidateOptions {
  /** `"1"` counts as 1: for parameters, queries, forms and the environment, where everything is text */
  readonly convert?: boolean;
  /** refuse unknown keys by name instead of dropping them */
  readonly closed?: boolean;
  /** stop at the first issue: for values that may be long and wrong all over */
  readonly first?: boolean;
}

/** Preferences become part of a copy of the schema, once: joi would compile them again for every value. */
const prepared = new WeakMap<Joi.Schema, Map<string, Joi.Schema>>();

function prepare(
  schema: Joi.Schema,
  { convert = false, closed = false, first = false }: ValidateOptions,
): Joi.Schema {
  let variants = prepared.get(schema);
  if (!variants) prepared.set(schema, (variants = new Map()));
  const key = `${convert} ${closed} ${first}`;
  let ready = variants.get(key);
  if (!ready) {
    ready = schema.prefs({
      abortEarly: first,
      presence: 'required',
      convert,
      stripUnknown: closed ? false : { objects: true },
      errors: { wrap: { label: false }, label: 'path' },
      messages: {
        'any.custom': '{{#label}}: {{#error.message}}',
        'string.pattern.name': '{{#label}} must be: {{#name}}',
      },
    });
    variants.set(key, ready);
  }
  return ready;
}

/** What `inspect` found in a value that is a part of another, at this path of the whole. */
export function issuesAt(
  at: string,
  result: { readonly value: unknown } | { readonly issues: readonly Issue[] },
): Issue[] {
  return 'issues' in result
    ? result.issues.map(({ path, message }) =>
        path === ''
          ? { path: at, message: `${at}: ${message}` }
          : { path: `${at}.${path}`, message: `${at}.${message}` },
      )
    : [];
}

/** All findings at once, or the value as the schema shapes it (defaults filled in, unknown keys dropped). */
export function inspect<S extends Joi.Schema>(
  schema: S,
  value: unknown,
  options: ValidateOptions = {},
): { value: Static<S> } | { issues: Issue[] } {
  const result = prepare(schema, options).validate(value);
  if (!result.error) return { value: result.value as Static<S> };
  return {
    issues: result.error.details.map(({ path, message }) => ({
      path: path.join('.'),
      message: path.length ? message : message.replace(/^value/, 'it'),
    })),
  };
}

/** The value, or a 400 whose message and `issues` name every field at fault. */
export function validate<S extends Joi.Schema>(
  schema: S,
  value: unknown,
  options: ValidateOptions = {},
): Static<S> {
  const result = inspect(schema, value, options);
  if ('value' in result) return result.value;
  throw kernelErrors.INVALID(result.issues.map((i) => i.message).join('; '), { issues: result.issues });
}
