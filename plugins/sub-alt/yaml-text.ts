// YAML of proxies: each is one flow mapping on one line. What is the same for all clients is written once, with the
// package `yaml`; a fetch adds the values of one client. Each text is quoted, so that no reader takes it for a number, a
// date or a truth value.
import { stringify } from 'yaml';
import type { EntryFill, WriteEntry } from '../subscription/contract.js';

export type Value =
  | string
  | number
  | boolean
  | undefined
  | readonly Value[]
  | { readonly [key: string]: Value };
/** A value of one client; undefined leaves its key out. */
export type Hole = (fill: EntryFill) => Value;
/** The keys of a proxy. A hole stands at the top only. */
export type Keys = Readonly<Record<string, Value | Hole>>;

/** Readers break lines at some of these, and refuse the others where they stand as themselves. */
const SPECIAL = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
const escaped = (text: string): string =>
  text.replaceAll(SPECIAL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
/** Half of a character cannot be sent. */
const whole = (text: string): string => text.replaceAll(/\p{Cs}/gu, '\ufffd');

const ORDINARY = /^[ !#-[\]-~]*$/;
/** A text in double quotes (YAML 1.2.2, 7.3.1), which is also JSON. */
export const quoted = (text: string): string =>
  ORDINARY.test(text) ? `"${text}"` : escaped(JSON.stringify(whole(text)));

/** A value of one line; every text in it is quoted. */
export function flow(value: Value): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(flow).join(', ')}]`;
  if (typeof value !== 'object') return String(value);
  const pairs = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${pairs.map(([key, one]) => `${key}: ${flow(one)}`).join(', ')}}`;
}

const wellFormed = (value: Value): Value => {
  if (typeof value === 'string') return whole(value);
  if (Array.isArray(value)) return (value as readonly Value[]).map(wellFormed);
  return typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, wellFormed(one)]))
    : value;
};

/** The inside of a flow mapping, without its braces. */
function fixedText(keys: Readonly<Record<string, Value>>): string {
  const text = stringify(wellFormed(keys), {
    collectionStyle: 'flow',
    defaultKeyType: 'PLAIN',
    defaultStringType: 'QUOTE_DOUBLE',
    flowCollectionPadding: false,
    lineWidth: 0,
  });
  return escaped(text.trim().slice(1, -1));
}

/** Compiles a proxy; `name` and `server` come from the fetch. */
export function compileKeys(keys: Keys, nameOf: (name: string) => string): WriteEntry {
  const holes: (readonly [key: string, value: Hole])[] = [];
  const fixed: Record<string, Value> = {};
  for (const [key, value] of Object.entries(keys)) {
    if (typeof value === 'function') holes.push([`, ${key}: `, value as Hole]);
    else if (value !== undefined) fixed[key] = value;
  }
  const rest = `, ${fixedText(fixed)}`;
  return (fill) => {
    let text = `{name: ${quoted(nameOf(fill.name))}, server: ${quoted(fill.server)}${rest}`;
    for (const [key, hole] of holes) {
      const value = hole(fill);
      if (value !== undefined) text += key + flow(value);
    }
    return `${text}}`;
  };
}
