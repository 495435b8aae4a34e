// Boot settings as plugins declare them: values that are needed before the database is open. The program around the kernel reads them.
import type Joi from 'joi';
import type { Static } from './shape.js';

/** One boot setting: its variable and its schema. */
export interface Variable<S extends Joi.Schema = Joi.Schema> {
  readonly variable: string;
  readonly schema: S;
  readonly about: string;
}
export type Variables = Readonly<Record<string, Variable>>;
export type Configured<V> = { readonly [K in keyof V]: V[K] extends Variable<infer S> ? Static<S> : never };
/** The source of a boot setting's value. */
export type Source = 'environment' | 'file' | 'default';
export type Sources<C> = { readonly [K in keyof C]: Source };
/** The boot settings of one plugin. */
export interface PluginConfig {
  readonly values: object;
  readonly sources: Sources<object>;
}

export const variable = <S extends Joi.Schema>(
  name: `WEIR_${string}`,
  schema: S,
  about: string,
): Variable<S> => ({ variable: name, schema, about });
