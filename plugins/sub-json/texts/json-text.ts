// Settings that hold JSON in the form of the core's config: checked when they are saved, so that a document never fails
// in a client program because of them.
import Joi from 'joi';
import { inspect, jsonObject, type Schema, sentenceOf } from '../../../kernel/index.js';

const SEPARATORS = 20_000;
const OBJECT = jsonObject(SEPARATORS);

/** The value in a text; undefined in a blank one. Throws with a sentence. */
export function parsed(value: string): unknown {
  if (value.trim() === '') return undefined;
  // The kernel limits the cost of parsing for objects, so a list is put into one.
  const result = inspect(OBJECT, `{"value":${value}}`);
  // A text that closes the object by itself is not what it seems.
  const whole = 'value' in result ? (result.value as { value?: unknown }) : {};
  if (Object.keys(whole).length !== 1 || whole.value === undefined)
    throw new Error('issues' in result ? sentenceOf(result.issues) : 'it is not valid JSON');
  return whole.value;
}

/** Throws with all that is wrong, each with its place in the JSON. */
export function checked<T>(schema: Schema<T>, value: unknown): T {
  const result = inspect(schema, value, { closed: true });
  if ('value' in result) return result.value;
  throw new Error(sentenceOf(result.issues));
}

// Schemas of values that occur in several places.
export const maybe = (schema: Joi.Schema): Joi.Schema => schema.optional();
export const fields = (keys: Joi.SchemaMap): Joi.ObjectSchema => Joi.object(keys);
export const flag = (): Joi.Schema => maybe(Joi.boolean());
export const whole = (least: number, most = 2 ** 31 - 1): Joi.NumberSchema =>
  Joi.number().integer().min(least).max(most);
export const line = (): Joi.StringSchema =>
  Joi.string()
    .max(4096)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
/** Checks one text; `problem` returns what is wrong with it. */
export const lineThat = (problem: (text: string) => string | undefined): Joi.StringSchema =>
  line().custom((value: string, state) => {
    const found = problem(value);
    return found === undefined ? value : state.error('any.custom', { error: new Error(found) });
  });
/** One or a list, at least one. */
export const oneOrMore = (item: Joi.Schema): Joi.Schema => Joi.array().items(item).min(1).single();

/** A number, or a range `from-to` of which one is drawn. Source: xtls.github.io, Int32Range. */
export const range = (least: number): Joi.Schema =>
  Joi.alternatives(
    whole(least),
    lineThat((value) => {
      const [, from = '', to = from] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(value) ?? [];
      return from !== '' && Number(from) >= least && Number(to) >= least
        ? undefined
        : `it must be a number of at least ${least}, or a range such as 10-20`;
    }),
  ).messages({
    'alternatives.types': `{{#label}} must be a number of at least ${least}, or a range such as "10-20"`,
  });
/** Ports: a number, or numbers and ranges with commas between them. */
export const ports = (): Joi.Schema =>
  Joi.alternatives(
    whole(1, 65_535),
    lineThat((value) =>
      value
        .split(',')
        .every(
          (part) =>
            /^\s*\d{1,5}\s*(?:-\s*\d{1,5}\s*)?$/.test(part) &&
            part.split('-').every((port) => Number(port) <= 65_535),
        )
        ? undefined
        : 'it must be ports such as 443 or 1000-2000,3000',
    ),
  ).messages({ 'alternatives.types': '{{#label}} must be a port, or ports such as "1000-2000,3000"' });
