// The entries in the body of a list: share links, or documents of the core, of mihomo or of sing-box. Runs in a thread of
// its own (body-worker.ts), as a document is parsed in one piece: it imports nothing that takes long to load.
import { parse } from 'yaml';

/** An entry as the list has it. */
export type BodyItem =
  | { readonly form: 'link'; readonly link: string }
  | { readonly form: 'xray' | 'mihomo' | 'sing-box'; readonly name: string; readonly value: ItemValue }
  | { readonly form: 'unreadable'; readonly name: string; readonly reason: string };
export type ItemValue = Readonly<Record<string, unknown>>;

/** The body is no list; the message says why. */
export class BodyError extends Error {}

const LONGEST_LINK = 16_384;
/** Characters of an entry in a document. */
const LONGEST_ENTRY = 65_536;
/** Values of an entry; usual ones have some dozens. */
const MOST_VALUES = 2000;
const DEEPEST = 32;
/** YAML is read at about two megabytes a second. */
const LONGEST_YAML = 4 * 1024 * 1024;
const MOST_ALIASES = 1000;

const SCHEME = /^[a-z][a-z0-9+.-]{0,31}:\/\//i;
const YAML = /^proxies[ \t]*:/m;
/** What is no server, in the words of each program. */
const NO_PROXY = {
  xray: ['freedom', 'direct', 'blackhole', 'block', 'dns', 'loopback'],
  mihomo: ['direct', 'reject', 'dns', 'pass', 'compatible', 'reject-drop'],
  'sing-box': ['direct', 'block', 'dns', 'selector', 'urltest'],
} as const;

const isObject = (value: unknown): value is ItemValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

function isDeep(value: unknown, left = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((one) => isDeep(one, left - 1));
}

/** How many values it holds, itself included; counts no further than an entry may have. */
export function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const one of Object.values(value)) {
    count += valuesIn(one);
    if (count > MOST_VALUES) break;
  }
  return count;
}

function* linesOf(text: string): Iterable<string> {
  const end = /\r\n|[\n\r\u2028\u2029]/g;
  let from = 0;
  for (let found = end.exec(text); found; found = end.exec(text)) {
    yield text.slice(from, found.index);
    from = end.lastIndex;
  }
  yield text.slice(from);
}

function* linksOf(text: string): Iterable<BodyItem> {
  let number = 0;
  for (const line of linesOf(text)) {
    number++;
    // What is longer is no link, and trimming it takes time.
    const link = line.length > 2 * LONGEST_LINK ? line : line.trim();
    if (link === '' || link.startsWith('#')) continue;
    const name = `line ${number}`;
    if (link.length > LONGEST_LINK)
      yield { form: 'unreadable', name, reason: `it has more than ${LONGEST_LINK} characters` };
    else if (SCHEME.test(link)) yield { form: 'link', link };
    else yield { form: 'unreadable', name, reason: 'it is no share link' };
  }
}

type Form = Exclude<BodyItem['form'], 'link' | 'unreadable'>;
function entry(form: Form, name: string, value: unknown): BodyItem | undefined {
  if (!isObject(value)) return { form: 'unreadable', name, reason: 'it is no object' };
  const type = textOf(value[form === 'xray' ? 'protocol' : 'type']).toLowerCase();
  if ((NO_PROXY[form] as readonly string[]).includes(type)) return undefined;
  if (isDeep(value)) return { form: 'unreadable', name, reason: `it is nested more than ${DEEPEST} times` };
  if (JSON.stringify(value).length > LONGEST_ENTRY)
    return { form: 'unreadable', name, reason: `it has more than ${LONGEST_ENTRY} characters` };
  if (valuesIn(value) > MOST_VALUES)
    return { form: 'unreadable', name, reason: `it has more than ${MOST_VALUES} values` };
  return { form, name, value };
}

function* entries(
  form: Form,
  list: readonly unknown[],
  nameOf: (value: ItemValue) => string,
): Iterable<BodyItem> {
  for (const [at, value] of list.entries()) {
    const found = entry(form, (isObject(value) && nameOf(value)) || `entry ${at + 1}`, value);
    if (found) yield found;
  }
}

/** A config of the core, or one of sing-box. */
function* configEntries(config: ItemValue): Iterable<BodyItem> {
  const outbounds = listOf(config['outbounds']);
  const isSingBox = outbounds.some((one) => isObject(one) && 'type' in one && !('protocol' in one));
  if (isSingBox || Array.isArray(config['endpoints'])) {
    yield* entries('sing-box', [...outbounds, ...listOf(config['endpoints'])], (one) => textOf(one['tag']));
    return;
  }
  const remarks = textOf(config['remarks']);
  const proxies = outbounds.filter(
    (one) => !isObject(one) || !(NO_PROXY.xray as readonly string[]).includes(textOf(one['protocol'])),
  );
  yield* entries('xray', proxies, (one) => {
    const tag = textOf(one['tag']);
    // In a document of one server its tag says nothing.
    return remarks === '' ? tag : proxies.length === 1 ? remarks : `${remarks} ${tag}`;
  });
}

function* jsonEntries(json: unknown): Iterable<BodyItem> {
  for (const [at, value] of (Array.isArray(json) ? json : [json]).entries()) {
    const name = `entry ${at + 1}`;
    if (typeof value === 'string') yield* linksOf(value);
    else if (!isObject(value)) yield { form: 'unreadable', name, reason: 'it is no object' };
    else if (Array.isArray(value['outbounds']) || Array.isArray(value['endpoints']))
      yield* configEntries(value);
    else if (Array.isArray(value['proxies']))
      yield* entries('mihomo', value['proxies'], (one) => textOf(one['name']));
    else if ('protocol' in value) yield* entries('xray', [value], (one) => textOf(one['tag']) || name);
    else if ('type' in value) yield* entries('sing-box', [value], (one) => textOf(one['tag']) || name);
    else yield { form: 'unreadable', name, reason: 'it has neither outbounds nor a protocol' };
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new BodyError('it begins like JSON and is not valid');
  }
}

function yamlIn(text: string): unknown {
  if (text.length > LONGEST_YAML)
    throw new BodyError(`it has ${text.length} characters; YAML may have ${LONGEST_YAML}`);
  try {
    // All values as texts: 1e5 and 012 may be names and keys.
    return parse(text, { schema: 'failsafe', maxAliasCount: MOST_ALIASES, logLevel: 'error' }) as unknown;
  } catch {
    throw new BodyError('it begins like YAML and is not valid');
  }
}

/** Both alphabets, with or without padding and line ends. */
function fromBase64(text: string): string | undefined {
  const dense = text.replaceAll(/\s+/g, '');
  if (dense === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(dense)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(dense, 'base64'));
  } catch {
    return undefined;
  }
}

function itemsIn(text: string): Iterable<BodyItem> | undefined {
  if (/^\s*<(?:!doctype|html|\?xml|head|body)/i.test(text))
    throw new BodyError('it is a web page; does the URL need a login?');
  if (/^\s*[[{]/.test(text)) return jsonEntries(jsonIn(text));
  if (YAML.test(text)) return jsonEntries(yamlIn(text));
  return text.includes('://') ? linksOf(text) : undefined;
}

/** Returns the entries of a body, at most `most` and one. Throws a BodyError where it is no list. */
export function bodyItems(body: Uint8Array, most: number): Iterable<BodyItem> {
  const text = new TextDecoder('utf-8').decode(body);
  if (text.trim() === '') throw new BodyError('it is empty');
  const plain = itemsIn(text);
  const inside = plain ? undefined : fromBase64(text);
  const items = plain ?? (inside === undefined ? undefined : itemsIn(inside));
  if (!items)
    throw new BodyError('it has neither share links nor a document of the core, mihomo or sing-box');
  return first(items, most + 1);
}

function* first<T>(items: Iterable<T>, most: number): Iterable<T> {
  let left = most;
  for (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}
