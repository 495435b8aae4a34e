// An inbound that somebody else has saved meanwhile, field by field: each field of each of its parts is one.
import { isRecord, type Values } from '../forms/schema.js';
import type { Choice } from '../parts/conflict.js';
import { mergedAbove } from './document.js';

/** The keys that lead to a field, as JSON: a key may contain any character. */
type Path = string;
type Texts = Readonly<Record<Path, string>>;
const keysOf = (path: Path): string[] => JSON.parse(path) as string[];

/** For people: `streamSettings.network`. */
export const shownPath = (path: Path): string => keysOf(path).join('.');

/** Each field with its value; a list is one value. */
function fieldsOf(values: Values, above: readonly string[] = []): [Path, unknown][] {
  return Object.entries(values).flatMap(([key, value]): [Path, unknown][] => {
    const keys = [...above, key];
    return isRecord(value) && Object.keys(value).length > 0
      ? fieldsOf(value, keys)
      : [[JSON.stringify(keys), value]];
  });
}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The documents as texts by field; each has the fields of all. A field that one has not is blank there. */
export function textsOf(...documents: readonly Values[]): Texts[] {
  const fields = documents.map((document) => new Map(fieldsOf(document)));
  const paths = new Set(fields.flatMap((one) => [...one.keys()]));
  return fields.map((one) =>
    Object.fromEntries([...paths].map((path) => [path, one.has(path) ? textOf(one.get(path)) : ''])),
  );
}

const valueAt = (values: unknown, keys: readonly string[]): unknown =>
  keys.reduce((within, key) => (isRecord(within) ? within[key] : undefined), values);

function withValue(values: unknown, [key, ...below]: readonly string[], value: unknown): Values {
  const { [key as string]: inner, ...others } = isRecord(values) ? values : {};
  const made = below.length > 0 ? withValue(inner, below, value) : value;
  return made === undefined ? others : { ...others, [key as string]: made };
}

/** What the form shows after the choice: what only one of both has changed is kept of both. A field without a choice stays mine. */
export function chosenOf(
  before: Values,
  mine: Values,
  theirs: Values,
  chosen: Readonly<Partial<Record<Path, Choice>>>,
): Values {
  const paths = Object.keys(chosen).filter((path) => chosen[path] === 'theirs');
  return paths
    .map(keysOf)
    .reduce((made, keys) => withValue(made, keys, valueAt(theirs, keys)), mergedAbove(before, mine, theirs));
}
