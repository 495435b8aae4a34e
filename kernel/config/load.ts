// Boot settings: what is needed before the database is open. The environment wins over the config file. All of them are
// checked together, and every mistake is reported at once.
import type Joi from 'joi';
import { inspect } from '../schema/validate.js';
import type { Static } from '../schema/shape.js';

/** One boot setting: its variable and what it may be. */
export interface Variable<S extends Joi.Schema = Joi.Schema> {
  readonly variable: string;
  readonly schema: S;
  readonly about: string;
}
export type Variables = Readonly<Record<string, Variable>>;
export type Configured<V> = { readonly [K in keyof V]: V[K] extends Variable<infer S> ? Static<S> : never };
/** Where the value of a boot setting comes from. */
export type Source = 'environment' | 'file' | 'default';
export type Sources<C> = { readonly [K in keyof C]: Source };

export const variable = <S extends Joi.Schema>(name: `WEIR_${string}`, schema: S, about: string): Variable<S> => ({ variable: name, schema, about });

/** The configuration is wrong; `problems` has one sentence for each mistake. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the configuration is wrong:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** The part of a config file that one owner reads. */
export interface Section {
  readonly values: Readonly<Record<string, unknown>>;
  /** a key as a person finds it */
  readonly at: (key: string) => string;
}
const EMPTY: Section = { values: {}, at: (key) => key };

const SECRET = /(PASSWORD|SECRET|TOKEN|KEY|DATABASE_?URL)$/i;
export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as not set. */
const inEnvironment = (env: Environment, { variable: name }: Variable): string | undefined => (env[name] === '' ? undefined : env[name]);

/** Reads one group of boot settings; mistakes are added to `problems`. */
export function readVariables<V extends Variables>(owner: string, variables: V, env: Environment, problems: string[], file: Section = EMPTY): Configured<V> {
  const values = Object.entries(variables).map(([key, declared]) => {
    const text = inEnvironment(env, declared);
    const fromFile = text === undefined && key in file.values;
    const name = fromFile ? file.at(key) : declared.variable;
    const raw = fromFile ? file.values[key] : text;
    const result = inspect(declared.schema.label(name) as Joi.Schema, raw, { convert: !fromFile });
    if ('value' in result) return [key, result.value];
    problems.push(...result.issues.map(({ message }) => `${message.includes(name) ? message : `${name}: ${message}`}${raw === undefined || SECRET.test(fromFile ? key : name) ? '' : `, but it is ${JSON.stringify(raw)}`} (${owner})`));
    return [key, undefined];
  });
  const known = Object.keys(variables);
  for (const key of Object.keys(file.values)) if (!known.includes(key)) problems.push(`${file.at(key)} is unknown; ${owner} has ${known.length > 0 ? known.join(', ') : 'no boot settings'}`);
  return Object.fromEntries(values) as Configured<V>;
}

export function sourcesOf<V extends Variables>(variables: V, env: Environment, file: Section = EMPTY): Sources<V> {
  const source = (key: string, declared: Variable): Source => (inEnvironment(env, declared) !== undefined ? 'environment' : key in file.values ? 'file' : 'default');
  return Object.fromEntries(Object.entries(variables).map(([key, declared]) => [key, source(key, declared)])) as Sources<V>;
}

/** Misspelt variables would be ignored in silence. */
export function unknownVariables(env: Environment, known: Iterable<string>): string[] {
  const names = new Set(known);
  return Object.keys(env).filter((name) => name.startsWith('WEIR_') && !name.startsWith('WEIR_TEST_') && !names.has(name));
}
