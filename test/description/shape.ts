// Shapes of replies, in the words of the API description; `compare` says where a reply differs.

/** `seconds` and `ms` are points of time: 0 where nothing has happened, else near the present in that unit. */
export type Word =
  | 'integer'
  | 'number'
  | 'text'
  | 'boolean'
  | 'object'
  | 'null'
  | 'any'
  | 'seconds'
  | 'ms'
  | 'iso';
/** A choice of words is written `object|null`, a list `[shape]`, a map of any keys `{ '*': shape }`. */
export type Shape = Word | `${Word}|${Word}` | readonly [Shape] | { readonly [field: string]: Shape };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPoint = (value: unknown, low: number, high: number): boolean =>
  Number.isSafeInteger(value) && (value === 0 || ((value as number) > low && (value as number) < high));
/** The years 2001 to 2286. In milliseconds, the same numbers are days of January 1970. */
const SECONDS = [1e9, 1e10] as const;
const IS: Readonly<Record<Word, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  text: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  null: (value) => value === null,
  any: (value) => value !== undefined,
  seconds: (value) => isPoint(value, ...SECONDS),
  ms: (value) => isPoint(value, SECONDS[0] * 1000, SECONDS[1] * 1000),
  iso: (value) => typeof value === 'string' && (value === '' || new Date(value).toISOString().length > 0),
};

export interface Comparison {
  /** how many values were compared */
  compared: number;
  readonly differences: string[];
}

/** `at` names the value in differences. An empty list compares nothing, so the callers of this ask for lists with entries. */
export function compare(
  shape: Shape,
  value: unknown,
  at: string,
  result: Comparison = { compared: 0, differences: [] },
): Comparison {
  if (typeof shape === 'string') {
    result.compared++;
    if (!(shape.split('|') as Word[]).some((word) => IS[word](value)))
      result.differences.push(`${at} is ${JSON.stringify(value)?.slice(0, 80)}, not ${shape}`);
  } else if (Array.isArray(shape)) {
    if (!Array.isArray(value)) result.differences.push(`${at} is no list`);
    else value.forEach((entry, i) => void compare(shape[0] as Shape, entry, `${at}[${i}]`, result));
  } else if (!isObject(value)) result.differences.push(`${at} is ${JSON.stringify(value)}, not an object`);
  else
    for (const [field, inner] of Object.entries(shape))
      if (field === '*')
        for (const [key, entry] of Object.entries(value)) compare(inner, entry, `${at}.${key}`, result);
      else compare(inner, value[field], `${at}.${field}`, result);
  return result;
}

/** Paths of all fields of a request: `a`, `a.b`, `list[].c`. */
export function fieldsIn(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => fieldsIn(entry, `${at}[]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = at === '' ? key : `${at}.${key}`;
    return [path, ...fieldsIn(inner, path)];
  });
}
