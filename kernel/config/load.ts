// Boot settings from the environment: what is needed before the database is open. All of them are checked together,
// and every mistake is reported at once.
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

const SECRET = /(PASSWORD|SECRET|TOKEN|KEY)$/;
type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one group of variables; mistakes are added to `problems`. An empty variable counts as not set. */
export function readVariables<V extends Variables>(owner: string, variables: V, env: Environment, problems: string[]): Configured<V> {
  const values = Object.entries(variables).map(([key, { variable: name, schema }]) => {
    const raw = env[name] === '' ? undefined : env[name];
    const result = inspect(schema.label(name) as Joi.Schema, raw, { convert: true });
    if ('value' in result) return [key, result.value];
    problems.push(...result.issues.map(({ message }) => `${message.includes(name) ? message : `${name}: ${message}`}${raw === undefined || SECRET.test(name) ? '' : `, but it is "${raw}"`} (${owner})`));
    return [key, undefined];
  });
  return Object.fromEntries(values) as Configured<V>;
}

/** Misspelt variables would be ignored in silence. */
export function unknownVariables(env: Environment, known: Iterable<string>): string[] {
  const names = new Set(known);
  return Object.keys(env).filter((name) => name.startsWith('WEIR_') && !name.startsWith('WEIR_TEST_') && !names.has(name));
}
