// What a form shows and sends: a new form, fields that are hidden, what is set, what was changed.
import { type FormField, fieldsOf, type JsonSchema, mainOf, type Values } from './schema.js';

export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What a new form begins with. */
export function initialOf(schema: JsonSchema): Values {
  const values: Record<string, unknown> = {};
  for (const { name, schema: own, words, input, isRequired } of fieldsOf(schema)) {
    const first = own.default ?? words.initial;
    if (first !== undefined) values[name] = first;
    else if (input === 'object' && isRequired) values[name] = initialOf(own);
  }
  return values;
}

/** A field is hidden by what stands beside it; it keeps its value. */
export function isShown({ words: { when } }: FormField, values: Values): boolean {
  if (!when) return true;
  const value = values[when.field];
  return when.is ? when.is.includes(value) : !isEmpty(value) && value !== false && value !== 0;
}

/** Whether a field has a value that a new form does not have. */
export const isSet = ({ name, schema, words }: FormField, values: Values): boolean =>
  !isEmpty(values[name]) && !isSame(values[name], schema.default ?? words.initial);

/** Without the field where it is blank and may be left out. */
export function withValue(values: Values, { name, isRequired }: FormField, value: unknown): Values {
  const { [name]: _, ...others } = values;
  return isEmpty(value) && !isRequired ? others : { ...values, [name]: value };
}

/** Sets a value at a path such as `realitySettings.privateKey`. */
export function withPath(values: Values, path: string, value: unknown): Values {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...values, [name]: value };
  const inner = values[name];
  const within =
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Values) : {};
  return { ...values, [name]: withPath(within, rest.join('.'), value) };
}

/** The fields that were changed, to send nothing else. A text that was cleared is sent blank: what is not sent stays. */
export const changedOf = (before: Values, after: Values): Values => ({
  ...Object.fromEntries(
    Object.entries(before)
      .filter(([name, value]) => typeof value === 'string' && value !== '' && after[name] === undefined)
      .map(([name]) => [name, '']),
  ),
  ...Object.fromEntries(
    Object.entries(after).filter(([name, value]) => value !== undefined && !isSame(before[name], value)),
  ),
});

const COSTS = ['none', 'replace', 'core', 'panel'] as const;
export type Cost = (typeof COSTS)[number];

/** The dearest change among the fields that differ; undefined where no field says it. */
export function costOf(schema: JsonSchema, before: Values, after: Values): Cost | undefined {
  const costs = fieldsOf(schema)
    .filter(({ name }) => !isSame(before[name], after[name]))
    .flatMap(({ words: { change } }) => (change ? [change] : []));
  return COSTS.findLast((cost) => costs.includes(cost));
}

export interface Section {
  readonly title: string;
  readonly basic: readonly FormField[];
  readonly advanced: readonly FormField[];
  /** of the advanced fields, how many are set */
  readonly setCount: number;
}

/** The shown fields by section, in the order of the first field of each. */
export function sectionsOf(schema: JsonSchema, values: Values): Section[] {
  const fields = fieldsOf(schema).filter((field) => isShown(field, values));
  return [...new Set(fields.map(({ words }) => words.section ?? ''))].map((title) => {
    const own = fields.filter(({ words }) => (words.section ?? '') === title);
    const advanced = own.filter(({ words }) => words.level === 'advanced');
    return {
      title,
      basic: own.filter(({ words }) => words.level !== 'advanced'),
      advanced,
      setCount: advanced.filter((field) => isSet(field, values)).length,
    };
  });
}

/** What was typed as the value of a field. Blank lines of a list are no items; an invalid number stays text, so that nothing is lost. */
export function typedValue(field: FormField, typed: string): unknown {
  if (field.input === 'list') {
    const items = typed.split('\n').filter((line) => line.trim() !== '');
    return field.schema.items && mainOf(field.schema.items).type !== 'string' ? items.map(numberOr) : items;
  }
  return field.input === 'number' ? numberOr(typed) : typed;
}

const numberOr = (typed: string): string | number =>
  /^\s*-?\d{1,15}(\.\d+)?\s*$/.test(typed) ? Number(typed) : typed;

/** As deep as the panel takes a value. */
const DEEPEST = 100;
const nestsTooDeep = (value: unknown, depth = 0): boolean =>
  depth > DEEPEST ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((inner) => nestsTooDeep(inner, depth + 1)));

/** `undefined` for text that is not JSON, or that the panel would refuse as too deep: to compare or to send it would overflow the stack. */
export function jsonOf(typed: string): { readonly value: unknown } | undefined {
  try {
    const value = typed.trim() === '' ? undefined : (JSON.parse(typed) as unknown);
    return nestsTooDeep(value) ? undefined : { value };
  } catch {
    return undefined;
  }
}
