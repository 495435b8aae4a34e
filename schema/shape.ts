// joi with static types: a brand on the constructor survives joi's chains, which return `this`.
// Everything is required by default.
import Joi from 'joi';
import { nestsTooDeep, TOO_DEEP } from './depth.js';
import { JsonScan, MOST_SEPARATORS } from './json.js';

declare const brand: unique symbol;
declare const mayMiss: unique symbol;

export interface Typed<T> {
  readonly [brand]?: T;
}
export interface MayMiss {
  readonly [mayMiss]?: true;
}

/** A joi schema that carries the type of its values. */
export type Schema<T = unknown> = Joi.Schema & Typed<T>;
/** The TypeScript type of a schema's values. */
export type Static<S> = S extends { readonly [brand]?: infer T } ? T : never;

type Fields = Readonly<Record<string, Joi.Schema>>;
type OptionalKeys<F> = { [K in keyof F]: F[K] extends { readonly [mayMiss]?: true } ? K : never }[keyof F];
type Shaped<F> = { [K in Exclude<keyof F, OptionalKeys<F>>]: Static<F[K]> } & {
  [K in OptionalKeys<F>]?: Static<F[K]>;
};
type Flat<T> = { [K in keyof T]: T[K] } & {};

/** Any text, the empty one included, also where `min` says otherwise: `word` takes no empty one. */
export const text = () => Joi.string().allow('') as Joi.StringSchema & Typed<string>;
/** Text with at least one character. */
export const word = () => Joi.string() as Joi.StringSchema & Typed<string>;
/** A safe integer. */
export const int = () => Joi.number().integer() as Joi.NumberSchema & Typed<number>;
/** A port of a listener. */
export const port = () => int().min(1).max(65_535);
/** A path that begins and ends with a slash; segments of letters, digits, `-`, `_`, `.` and `~`. */
export const urlPath = () =>
  word().pattern(/^\/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*\/)*$/, 'path that begins and ends with a slash');
export const num = () => Joi.number() as Joi.NumberSchema & Typed<number>;
export const bool = () => Joi.boolean() as Joi.BooleanSchema & Typed<boolean>;
export const list = <S extends Joi.Schema>(item: S) =>
  Joi.array().items(item) as Joi.ArraySchema & Typed<Static<S>[]>;
export const oneOf = <const V extends readonly (string | number | null)[]>(...values: V) =>
  Joi.valid(...values) as Joi.AnySchema & Typed<V[number]>;
export const anything = () => Joi.any() as Joi.AnySchema & Typed<unknown>;

/** An object of these fields; unknown ones are dropped from API bodies. */
export const shape = <F extends Fields>(fields: F) =>
  Joi.object(fields) as Joi.ObjectSchema & Typed<Flat<Shaped<F>>>;
/** An object with any keys, kept whole. */
export const openObject = () =>
  Joi.object().unknown(true) as Joi.ObjectSchema & Typed<Record<string, unknown>>;
/** Every key maps to a value of the same kind. */
export const mapOf = <S extends Joi.Schema>(value: S) =>
  Joi.object().pattern(Joi.string(), value) as Joi.ObjectSchema & Typed<Record<string, Static<S>>>;

/** Makes a field optional. */
export const optional = <S extends Joi.Schema>(schema: S) => schema.optional() as S & MayMiss;
/** Gives a missing field this value, so that the result of validation always has it. */
export const withDefault = <S extends Joi.Schema>(schema: S, value: Static<S>) =>
  schema.optional().default(value as never) as S;
export const nullable = <S extends Joi.Schema>(schema: S) =>
  schema.allow(null) as unknown as Joi.Schema & Typed<Static<S> | null>;

/** Describes a schema in the API reference where its own rules cannot: as another schema or as JSON Schema. */
export const describedAs = <S extends Joi.Schema>(
  schema: S,
  description: Joi.Schema | Readonly<Record<string, unknown>>,
) => schema.meta(Joi.isSchema(description) ? { describedAs: description } : { jsonSchema: description }) as S;

/** Adds to the description of a schema, as JSON Schema, what a rule of code checks besides. */
export const describedWith = <S extends Joi.Schema>(schema: S, more: Readonly<Record<string, unknown>>) =>
  schema.meta({ jsonSchemaToo: more }) as S;

/** An object, or a text with the JSON of an object (existing programs send both); the value is the object. A text may hold this many separators (see JsonScan). */
export const jsonObject = (separators = MOST_SEPARATORS) =>
  describedAs(Joi.any(), {
    anyOf: [{ type: 'object' }, { type: 'string', contentMediaType: 'application/json' }],
  }).custom((value: unknown) => {
    let parsed = value;
    if (typeof value === 'string') {
      const problem = new JsonScan(separators).take(Buffer.from(value));
      if (problem !== undefined) throw new Error(`it ${problem}`);
      try {
        parsed = value.trim() === '' ? {} : JSON.parse(value);
      } catch {
        throw new Error('it is not valid JSON');
      }
    }
    // The depth of a text was checked already.
    if (parsed === value && nestsTooDeep(parsed)) throw new Error(`it ${TOO_DEEP}`);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      throw new Error('it must be an object');
    return parsed;
  }) as Joi.AnySchema & Typed<Record<string, unknown>>;

/** For rules that the functions above cannot express. What a function in joi's `.custom()` throws becomes the issue of the field. */
export const custom = <T>(schema: Joi.Schema) => schema as Schema<T>;
