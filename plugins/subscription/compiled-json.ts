// JSON with holes: what is the same for all clients is written once, and a fetch fills in the rest.
import type { Json } from '../engine/contract.js';
import type { EntryFill, WriteEntry } from './contract.js';

/** A JSON value; functions in it are called for each client. Keys with `undefined` are left out, also when a function returns it. */
export type JsonTemplate =
  | string
  | number
  | boolean
  | null
  | undefined
  | ((fill: EntryFill) => Json | undefined)
  | readonly JsonTemplate[]
  | { readonly [key: string]: JsonTemplate };

/** Texts, and between them values of the client. */
type Part = string | ((fill: EntryFill) => string);

/** Compiles a template to a function that writes it as JSON, without spaces. */
export function compileJson(template: JsonTemplate): WriteEntry {
  const parts: Part[] = [];
  const write = (part: Part): void => {
    const last = parts.length - 1;
    if (typeof part === 'string' && typeof parts[last] === 'string') parts[last] += part;
    else parts.push(part);
  };
  parse(template, write);
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'string') return () => only;
  return (fill) => {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : part(fill);
    return text;
  };
}

function parse(template: JsonTemplate, write: (part: Part) => void): void {
  if (typeof template === 'function') write((fill) => JSON.stringify(template(fill) ?? null));
  else if (Array.isArray(template)) parseList(template as readonly JsonTemplate[], write);
  else if (typeof template === 'object' && template !== null)
    parseObject(template as Readonly<Record<string, JsonTemplate>>, write);
  else write(JSON.stringify(template ?? null));
}

function parseList(items: readonly JsonTemplate[], write: (part: Part) => void): void {
  write('[');
  for (const [i, item] of items.entries()) {
    if (i > 0) write(',');
    parse(item, write);
  }
  write(']');
}

/** Fixed keys come first, so that a comma never depends on a value that may be missing. */
function parseObject(object: Readonly<Record<string, JsonTemplate>>, write: (part: Part) => void): void {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  const fixed = entries.filter(([, value]) => typeof value !== 'function');
  write('{');
  for (const [i, [key, value]] of fixed.entries()) {
    write(`${i > 0 ? ',' : ''}${JSON.stringify(key)}:`);
    parse(value, write);
  }
  const own = entries.flatMap(([key, value]) =>
    typeof value === 'function' ? [{ key: `${JSON.stringify(key)}:`, value }] : [],
  );
  if (own.length > 0)
    write((fill) => {
      let text = '';
      for (const { key, value } of own) {
        const given = value(fill);
        if (given === undefined) continue;
        text += `${text === '' && fixed.length === 0 ? '' : ','}${key}${JSON.stringify(given)}`;
      }
      return text;
    });
  write('}');
}
