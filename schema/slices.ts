// Validates values of any size without blocking the event loop: the length of a list first, then its items in slices.
import Joi from 'joi';
import { TimeSlice } from './time-slice.js';
import { holdsMoreThan } from './depth.js';
import type { Static } from './shape.js';
import {
  type Finding,
  findings,
  type Found,
  type Inspected,
  issuesOf,
  MOST_ISSUES,
  type ValidateOptions,
} from './inspect.js';

/** Values up to this weight are validated in one step of a millisecond or two. */
const LIGHT = 1000;
/** Rules of a list that do not look inside its items. */
const LIST_RULES = ['items', 'min', 'max', 'length', 'unique'];

type Path = readonly (string | number)[];

const isHeavy = (value: unknown): boolean => holdsMoreThan(value, LIGHT);

/** A list inside a schema (keys, items, metas); joi does not publish it otherwise. */
export const term = <T>(schema: Joi.Schema, name: string): readonly T[] =>
  (schema.$_terms[name] as readonly T[] | null | undefined) ?? [];

/** Whether a schema refers to values beside or around its own. */
const refersOutside = (schema: Joi.Schema): boolean =>
  (schema as unknown as { readonly _refs: { readonly refs: readonly unknown[] } })._refs.refs.length > 0;

/** Whether the parts of a schema mean the same when each is validated alone. joi does not publish this. */
function canSplit(schema: Joi.Schema, rules: readonly string[] = []): boolean {
  const { _rules, _preferences } = schema as unknown as {
    readonly _rules: readonly { readonly name: string }[];
    readonly _preferences: object | null;
  };
  return (
    _rules.every(({ name }) => rules.includes(name)) &&
    _preferences === null &&
    !refersOutside(schema) &&
    ['whens', 'externals', 'renames', 'dependencies', 'ordered', '_exclusions', '_requireds'].every(
      (name) => term(schema, name).length === 0,
    )
  );
}

function withoutItems(schema: Joi.Schema): Joi.Schema {
  const bare = (schema as unknown as { clone(): Joi.Schema }).clone();
  Object.assign(bare.$_terms, { items: [], _inclusions: [] });
  return bare;
}

/** The state of one validation: the issues found so far, and the time slice. */
class Sliced {
  readonly found: Finding[] = [];
  readonly #options: ValidateOptions;
  readonly #slice = new TimeSlice();

  constructor(options: ValidateOptions) {
    this.#options = options;
  }

  /** Enough issues were found; the rest is not checked. */
  get isFull(): boolean {
    return this.found.length > MOST_ISSUES;
  }

  /** Returns the value in the form of its schema; adds issues to `found`, with paths below `at`. */
  async check(schema: Joi.Schema, value: unknown, at: Path): Promise<unknown> {
    if (this.#slice.isOver) await this.#slice.next();
    return isHeavy(value) ? this.heavy(schema, value, at) : this.#whole(schema, value, at);
  }

  /** The same for a value that is known to be heavy: finding that out takes as long as a slice. */
  async heavy(schema: Joi.Schema, value: unknown, at: Path): Promise<unknown> {
    await this.#slice.next();
    const [item, ...others] = term<Joi.Schema>(schema, 'items');
    if (Array.isArray(value) && item && others.length === 0 && canSplit(schema, LIST_RULES))
      return this.#list(schema, item, value, at);
    if (schema.type === 'object' && typeof value === 'object' && canSplit(schema))
      return term(schema, 'patterns').length > 0
        ? this.#map(schema, value as Record<string, unknown>, at)
        : this.#fields(schema, value as Record<string, unknown>, at);
    return this.#whole(schema, value, at);
  }

  #whole(schema: Joi.Schema, value: unknown, at: Path): unknown {
    const result = findings(schema, value, this.#options, at);
    if ('value' in result) return result.value;
    this.found.push(...result.found);
    return undefined;
  }

  async #list(schema: Joi.Schema, item: Joi.Schema, value: readonly unknown[], at: Path) {
    const before = this.found.length;
    this.#whole(withoutItems(schema), value, at);
    const checked: unknown[] = [];
    if (this.found.length > before) return checked;
    for (let i = 0; i < value.length && !this.isFull; i++)
      checked.push(await this.check(item, value[i], [...at, i]));
    return checked;
  }

  /** Validates heavy fields one by one, and the others together. */
  async #fields(schema: Joi.Schema, value: Record<string, unknown>, at: Path) {
    const heavy = term<{ key: string; schema: Joi.Schema }>(schema, 'keys').filter(
      ({ key, schema: field }) => Object.hasOwn(value, key) && !refersOutside(field) && isHeavy(value[key]),
    );
    const unchecked = Object.fromEntries(heavy.map(({ key }) => [key, Joi.any()]));
    const rest = (schema as Joi.ObjectSchema).keys(unchecked);
    const checked = this.#whole(heavy.length > 0 ? rest : schema, value, at) as typeof value | undefined;
    for (const { key, schema: field } of heavy) {
      if (this.isFull) break;
      const part = await this.heavy(field, value[key], [...at, key]);
      if (checked) checked[key] = part;
    }
    return checked;
  }

  /** Validates keys that the schema does not list, some at a time. */
  async #map(schema: Joi.Schema, value: Record<string, unknown>, at: Path) {
    if (term(schema, 'keys').length > 0) return this.#whole(schema, value, at);
    const checked: Record<string, unknown> = {};
    const entries = Object.entries(value);
    for (let from = 0; from < entries.length && !this.isFull; from += LIGHT) {
      if (this.#slice.isOver) await this.#slice.next();
      const some = Object.fromEntries(entries.slice(from, from + LIGHT));
      Object.assign(checked, this.#whole(schema, some, at));
    }
    return checked;
  }
}

async function run(schema: Joi.Schema, value: unknown, options: ValidateOptions): Promise<Found> {
  if (!isHeavy(value)) return findings(schema, value, options);
  const sliced = new Sliced(options);
  const checked = await sliced.heavy(schema, value, []);
  return sliced.found.length > 0 ? { found: sliced.found, all: !sliced.isFull } : { value: checked };
}

/** Works as `inspect`, for values that may be large. Stops once more than enough issues are found. */
export async function inspectInSlices<S extends Joi.Schema>(
  schema: S,
  value: unknown,
  options: ValidateOptions = {},
): Promise<Inspected<Static<S>>> {
  return issuesOf(await run(schema, value, options));
}
