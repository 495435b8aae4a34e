// Converts joi schemas to JSON Schema 2020-12. Reports what JSON Schema cannot express, so that a description never omits a check silently.
import type { Schema } from '../../kernel/index.js';
import { type Draft, isJson, takesEmpty, typeOfAll } from './allowed-values.js';
import type { Described } from './described.js';
import { annotationIn, asField } from './form-words.js';
import { patternOf } from './pattern.js';

export type { Described } from './described.js';
export type JsonSchema = { readonly [key: string]: unknown };

const PARTS = new Set([
  'type',
  'flags',
  'rules',
  'allow',
  'keys',
  'items',
  'patterns',
  'matches',
  'dependencies',
  'metas',
  'examples',
  'preferences',
  'notes',
  'truthy',
  'falsy',
]);
const FLAGS = new Set([
  'presence',
  'default',
  'only',
  'description',
  'unknown',
  'label',
  'match',
  'unit',
  'cast',
  'insensitive',
  'unsafe',
  'empty',
  'result',
]);
/** Rules that change a value or check it with custom code, within what the type says. */
const SILENT = new Set(['trim', 'case', 'replace', 'normalize', 'truncate', 'custom', 'precision', 'sort']);

type Rule = (args: Readonly<Record<string, unknown>>) => Draft | undefined;
const bound =
  (key: string): Rule =>
  ({ limit }) =>
    typeof limit === 'number' ? { [key]: limit } : undefined;
const both =
  (low: string, high: string): Rule =>
  ({ limit }) =>
    typeof limit === 'number' ? { [low]: limit, [high]: limit } : undefined;
const always =
  (draft: Draft): Rule =>
  () =>
    draft;

const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  string: {
    min: bound('minLength'),
    max: bound('maxLength'),
    length: both('minLength', 'maxLength'),
    pattern: ({ regex, options }) => {
      const pattern = patternOf(String(regex));
      if (pattern === undefined) return undefined;
      const { name, invert } = (options ?? {}) as { name?: string; invert?: boolean };
      return {
        ...(invert ? { not: { pattern } } : { pattern }),
        ...(name !== undefined && { description: name }),
      };
    },
    hostname: always({ anyOf: [{ format: 'hostname' }, { format: 'ipv4' }, { format: 'ipv6' }] }),
    domain: always({ format: 'hostname' }),
    // joi also accepts a CIDR unless told otherwise, and no format says that.
    ip: ({ options }) =>
      (options as { cidr?: string } | undefined)?.cidr === 'forbidden'
        ? { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }
        : { description: 'IP address or CIDR' },
    uri: always({ format: 'uri' }),
    email: always({ format: 'email' }),
    guid: always({ format: 'uuid' }),
    isoDate: always({ format: 'date-time' }),
    base64: always({ contentEncoding: 'base64' }),
    hex: always({ pattern: '^[0-9a-fA-F]+$' }),
    alphanum: always({ pattern: '^[0-9a-zA-Z]+$' }),
    token: always({ pattern: '^\\w+$' }),
  },
  number: {
    integer: always({ type: 'integer' }),
    min: bound('minimum'),
    max: bound('maximum'),
    greater: bound('exclusiveMinimum'),
    less: bound('exclusiveMaximum'),
    port: always({ type: 'integer', minimum: 0, maximum: 65_535 }),
    multiple: ({ base }) => (typeof base === 'number' ? { multipleOf: base } : undefined),
    sign: ({ sign }) => (sign === 'positive' ? { exclusiveMinimum: 0 } : { exclusiveMaximum: 0 }),
  },
  array: {
    min: bound('minItems'),
    max: bound('maxItems'),
    length: both('minItems', 'maxItems'),
    unique: always({ uniqueItems: true }),
  },
  object: {
    min: bound('minProperties'),
    max: bound('maxProperties'),
    length: both('minProperties', 'maxProperties'),
  },
};

export class Describer {
  readonly #report: (problem: string) => void;
  readonly #forms: boolean;
  #sentAs: 'json' | 'text' = 'text';

  /** `report` receives everything that a schema checks and the description does not express. `forms`: with titles, and with `x-weir`, what forms must know. */
  constructor(report: (problem: string) => void, { forms = false }: { readonly forms?: boolean } = {}) {
    this.#report = report;
    this.#forms = forms;
  }

  /** `at` names the schema in reports. */
  /** `sentAs` JSON, a flag is only true or false: the words that stand for them are those of texts. */
  describe(schema: Schema, at: string, sentAs: 'json' | 'text' = 'text'): JsonSchema {
    this.#sentAs = sentAs;
    return this.of(schema.describe() as Described, at);
  }

  of(described: Described, at: string): JsonSchema {
    for (const part of Object.keys(described))
      if (!PARTS.has(part)) this.#report(`${at}: nothing here describes joi's "${part}"`);
    for (const flag of Object.keys(described.flags ?? {}))
      if (!FLAGS.has(flag)) this.#report(`${at}: nothing here describes joi's flag "${flag}"`);
    const { default: preset, description } = described.flags ?? {};
    const body = this.#values(described, at);
    const more = (described.metas ?? []).flatMap(({ jsonSchemaToo }) => jsonSchemaToo ?? []);
    return {
      ...body,
      ...(more.length > 0 && { allOf: [...((body['allOf'] ?? []) as unknown[]), ...more] }),
      // A custom description takes precedence over the name of a pattern.
      ...(description !== undefined && { description }),
      ...(isJson(preset) && { default: preset }),
      ...(described.examples && { examples: described.examples }),
    };
  }

  /** The type with its rules, and the values that are allowed besides. */
  #values(described: Described, at: string): JsonSchema {
    const values = [...new Set(described.allow ?? [])].filter(isJson);
    if (described.flags?.only) return { ...typeOfAll(values), enum: values };
    const body = this.#body(described, at);
    // JSON Schema of its own says itself whether a text may be empty.
    const isWhole = described.metas?.some(({ jsonSchema }) => jsonSchema !== undefined) ?? false;
    const extra = values.filter(
      (value) =>
        !(value === '' && described.type === 'string' && (isWhole || takesEmpty(body))) &&
        Object.keys(body).length > 0,
    );
    if (extra.length === 0) return body;
    if (extra.length === 1 && extra[0] === null && typeof body['type'] === 'string' && !('enum' in body))
      return { ...body, type: [body['type'], 'null'] };
    const { description, ...alone } = body as Draft;
    return {
      anyOf: [
        ...(extra.includes(null) ? [{ type: 'null' }] : []),
        ...extra.filter((value) => value !== null).map((value) => ({ const: value })),
        alone,
      ],
      ...(description !== undefined && { description }),
    };
  }

  #body(described: Described, at: string): Draft {
    for (const { jsonSchema, describedAs } of described.metas ?? []) {
      if (jsonSchema !== undefined) return { ...(jsonSchema as JsonSchema) };
      if (describedAs !== undefined) return { ...this.of(describedAs as Described, at) };
    }
    switch (described.type) {
      case 'any':
        if (described.rules?.length)
          this.#report(`${at}: a custom check on a value of any type has no description; use describedAs(…)`);
        return {};
      case 'boolean': {
        const others = [...(described.truthy ?? []), ...(described.falsy ?? [])];
        return others.length === 0 || this.#sentAs === 'json'
          ? { type: 'boolean' }
          : { anyOf: [{ type: 'boolean' }, { ...typeOfAll(others), enum: others }] };
      }
      case 'string':
        return this.#rules(
          described,
          { type: 'string', ...(!described.allow?.includes('') && { minLength: 1 }) },
          at,
        );
      case 'number':
        return this.#rules(described, { type: 'number' }, at);
      case 'array':
        return this.#rules(described, { type: 'array', ...this.#items(described.items ?? [], at) }, at);
      case 'object':
        return this.#rules(described, { type: 'object', ...this.#object(described, at) }, at);
      case 'alternatives':
        return this.#alternatives(described, at);
      default:
        this.#report(`${at}: nothing here describes joi's type "${described.type}"`);
        return {};
    }
  }

  #rules({ type = '', rules = [] }: Described, draft: Draft, at: string): Draft {
    const patterns: unknown[] = [];
    for (const { name, args = {} } of rules) {
      if (SILENT.has(name)) continue;
      const said = RULES[type]?.[name]?.(args);
      if (!said)
        this.#report(
          `${at}: nothing here describes joi's rule "${name}" of a ${type} with ${JSON.stringify(args)}`,
        );
      else if ('pattern' in said && 'pattern' in draft) patterns.push({ pattern: said['pattern'] });
      else Object.assign(draft, said);
    }
    return patterns.length > 0 ? { ...draft, allOf: patterns } : draft;
  }

  #items(items: readonly Described[], at: string): Draft {
    const all = items.map((item) => this.of(item, `${at}[]`));
    return all.length === 0 ? {} : { items: all.length === 1 ? all[0] : { anyOf: all } };
  }

  #object({ keys, patterns = [], flags, dependencies = [] }: Described, at: string): Draft {
    // What is removed from each value has no effect.
    const entries = Object.entries(keys ?? {}).filter(
      ([, { flags: of }]) => of?.presence !== 'forbidden' && of?.['result'] !== 'strip',
    );
    const required = entries
      .filter(([, inner]) => inner.flags?.presence !== 'optional' && !this.#isGenerated(inner))
      .map(([name]) => name);
    const draft: Draft = keys
      ? {
          properties: Object.fromEntries(
            entries.map(([name, inner], i) => {
              const field = this.of(inner, `${at}.${name}`);
              return [name, this.#forms ? asField(field, annotationIn(inner.metas), name, i + 1) : field];
            }),
          ),
          ...(required.length > 0 && { required }),
        }
      : {};
    if (flags?.unknown !== undefined) draft['additionalProperties'] = flags.unknown;
    for (const { schema, regex, rule } of patterns) {
      const inner = this.of(rule, `${at}.*`);
      const pattern = regex === undefined ? undefined : patternOf(regex);
      if (pattern !== undefined)
        draft['patternProperties'] = {
          ...(draft['patternProperties'] as object | undefined),
          [pattern]: inner,
        };
      else {
        if (schema) draft['propertyNames'] = this.of(schema, `${at} (names)`);
        else this.#report(`${at}: the pattern ${regex} of its names cannot be expressed in JSON Schema`);
        draft['additionalProperties'] = inner;
      }
    }
    return { ...draft, ...this.#dependencies(dependencies, at) };
  }

  /** Forms may leave it out: what a caller sends is completed before the schema checks it. */
  #isGenerated({ metas }: Described): boolean {
    return this.#forms && annotationIn(metas).generated === true;
  }

  #dependencies(dependencies: NonNullable<Described['dependencies']>, at: string): Draft {
    const conditions: Draft[] = dependencies.flatMap(({ rel, key = '', peers }): Draft[] => {
      const each = peers.map((name) => ({ required: [name] }));
      if (rel === 'or') return [{ anyOf: each }];
      if (rel === 'xor') return [{ oneOf: each }];
      if (rel === 'with') return [{ dependentRequired: { [key]: peers } }];
      if (rel === 'without') return peers.map((name) => ({ not: { required: [key, name] } }));
      if (rel === 'and')
        return [
          {
            dependentRequired: Object.fromEntries(
              peers.map((name) => [name, peers.filter((other) => other !== name)]),
            ),
          },
        ];
      if (rel === 'nand') return [{ not: { required: peers } }];
      this.#report(`${at}: nothing here describes joi's dependency "${rel}"`);
      return [];
    });
    return conditions.length > 0 ? { allOf: conditions } : {};
  }

  #alternatives({ matches = [], flags }: Described, at: string): Draft {
    const all = matches.flatMap(({ schema }) => {
      if (!schema)
        this.#report(`${at}: conditions of joi's alternatives are not described; use describedAs(…)`);
      return schema ? [this.of(schema, at)] : [];
    });
    return { [flags?.['match'] === 'one' ? 'oneOf' : flags?.['match'] === 'all' ? 'allOf' : 'anyOf']: all };
  }
}
