// Reads boot settings. The environment takes precedence over the config file. All mistakes are reported together.
import type Joi from 'joi';
import type { Configured, Source, Sources, Variable, Variables } from '../schema/variable.js';
import { inspect } from '../schema/inspect.js';

/** The configuration is invalid; `problems` has one sentence for each mistake. */
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
  /** describes where a key is, for messages */
  readonly at: (key: string) => string;
  /** further keys at the same place, which others read; messages list them too */
  readonly beside?: readonly string[];
}
const EMPTY: Section = { values: {}, at: (key) => key };

const SECRET = /(PASSWORD|SECRET|TOKEN|KEY|PROXY|REDIS|DATABASE_?URL)$/i;
export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as not set. */
const inEnvironment = (env: Environment, { variable: name }: Variable): string | undefined =>
  env[name] === '' ? undefined : env[name];

/** Reads one group of boot settings; mistakes are added to `problems`. */
export function readVariables<V extends Variables>(
  owner: string,
  variables: V,
  env: Environment,
  problems: string[],
  file: Section = EMPTY,
): Configured<V> {
  const values = Object.entries(variables).map(([key, declared]) => {
    const text = inEnvironment(env, declared);
    const fromFile = text === undefined && key in file.values;
    const name = fromFile ? file.at(key) : declared.variable;
    const raw = fromFile ? file.values[key] : text;
    const result = inspect(declared.schema.label(name) as Joi.Schema, raw, { convert: !fromFile });
    if ('value' in result) return [key, result.value];
    problems.push(
      ...result.issues.map(
        ({ message }) =>
          `${message.includes(name) ? message : `${name}: ${message}`}${raw === undefined || message.includes(JSON.stringify(raw)) || SECRET.test(fromFile ? key : name) ? '' : `, but it is ${JSON.stringify(raw)}`} (${owner})`,
      ),
    );
    return [key, undefined];
  });
  const known = Object.keys(variables);
  const listed = [...known, ...(file.beside ?? [])];
  for (const key of Object.keys(file.values))
    if (!known.includes(key))
      problems.push(
        `${file.at(key)} is unknown; ${owner} has ${listed.length > 0 ? listed.join(', ') : 'no boot settings'}`,
      );
  return Object.fromEntries(values) as Configured<V>;
}

export function sourcesOf<V extends Variables>(
  variables: V,
  env: Environment,
  file: Section = EMPTY,
): Sources<V> {
  const source = (key: string, declared: Variable): Source =>
    inEnvironment(env, declared) !== undefined ? 'environment' : key in file.values ? 'file' : 'default';
  return Object.fromEntries(
    Object.entries(variables).map(([key, declared]) => [key, source(key, declared)]),
  ) as Sources<V>;
}

/** Finds misspelt variables, which would be ignored silently. */
export function unknownVariables(env: Environment, known: Iterable<string>): string[] {
  const names = new Set(known);
  return Object.keys(env).filter(
    (name) => name.startsWith('WEIR_') && !name.startsWith('WEIR_TEST_') && !names.has(name),
  );
}
