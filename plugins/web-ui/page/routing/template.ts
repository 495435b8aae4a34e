// The admin's part of the core's config, as the pages of routing read and change it. Keys that they do not know survive.

export type Entry = Readonly<Record<string, unknown>>;
export type Template = Entry;
/** what of the template is a list that these pages edit */
export type ListName = 'outbounds' | 'rules' | 'balancers';

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const entryOf = (value: unknown): Entry => (isEntry(value) ? value : {});
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export const routingOf = (template: Template): Entry => entryOf(template['routing']);

/** Places stay: what is no object in the list is an empty one here. */
export function listOf(template: Template, name: ListName): readonly Entry[] {
  const list = name === 'outbounds' ? template[name] : routingOf(template)[name];
  return isList(list) ? list.map(entryOf) : [];
}

export const withList = (template: Template, name: ListName, list: readonly Entry[]): Template =>
  name === 'outbounds'
    ? { ...template, outbounds: list }
    : { ...template, routing: { ...routingOf(template), [name]: list } };

export const tagOf = ({ tag }: Entry): string => (typeof tag === 'string' ? tag : '');
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A list, or one text in its place, as the core takes both. */
export const textsOf = (value: unknown): string[] =>
  isList(value) ? value.map(String) : value === undefined || value === '' ? [] : [String(value)];

export const replaced = <T>(list: readonly T[], at: number, entry: T): T[] =>
  list.map((old, index) => (index === at ? entry : old));
export const without = <T>(list: readonly T[], at: number): T[] => list.filter((_, index) => index !== at);
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const entry = list[from];
  return entry === undefined || to < 0 || to >= list.length
    ? [...list]
    : without(list, from).toSpliced(to, 0, entry);
}

/** A tag that no entry of the list has: `proxy`, `proxy-2`, … */
export function freeTag(list: readonly Entry[], wanted: string): string {
  const taken = new Set(list.map(tagOf));
  for (let count = 1; ; count++) {
    const tag = count === 1 ? wanted : `${wanted}-${count}`;
    if (!taken.has(tag)) return tag;
  }
}

export const parsed = (text: string): Template => entryOf(JSON.parse(text));
export const asText = (template: Template): string => JSON.stringify(template, null, 2);
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

type Path = readonly (string | number)[];

export function valueAt(value: unknown, [first, ...rest]: Path): unknown {
  if (first === undefined) return value;
  if (typeof first === 'number') return isList(value) ? valueAt(value[first], rest) : undefined;
  return isEntry(value) ? valueAt(value[first], rest) : undefined;
}

/** Sets a value and makes what is missing on the way; `undefined` removes the key. */
export function withValueAt(value: unknown, [first, ...rest]: Path, next: unknown): unknown {
  if (first === undefined) return next;
  if (typeof first === 'number') {
    const list = isList(value) ? [...value] : [];
    list[first] = withValueAt(list[first], rest, next);
    return list;
  }
  const { [first]: old, ...others } = entryOf(value);
  const made = withValueAt(old, rest, next);
  if (made === undefined) return others;
  return first in entryOf(value) ? { ...entryOf(value), [first]: made } : { ...others, [first]: made };
}
