// The document around the proxies: groups, rules, and what the admin's template says. Read and written with the package
// `yaml`, so that what the template says stays as it was written; a fetch only puts proxies and names in.
import { randomUUID } from 'node:crypto';
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Scalar,
  stringify,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { ALL, checkTemplate } from './check.js';
import { GROUP } from './names.js';

/** Aliases multiply what is written once. */
const MOST_ALIASES = 100;
/** Brings in the keys of other mappings, and may stand there more than once. */
const MERGE = '<<';
/** Stand where proxies and names come; no text of a template holds them. */
const PROXIES = `proxies-${randomUUID()}`;
const NAMES = `names-${randomUUID()}`;

export interface Template {
  /** names that a client's proxy cannot have */
  readonly taken: ReadonlySet<string>;
  /** `proxies`: one flow mapping each; `names`: quoted */
  write(proxies: readonly string[], names: readonly string[]): string;
}

const asWritten = { lineWidth: 0, flowCollectionPadding: false } as const;
const LAST = `MATCH,${GROUP}`;

/** Texts between which proxies and names come. */
function compile(text: string): Template['write'] {
  const [, indent = ''] = new RegExp(`^( *)- "?${PROXIES}"?\\n`, 'm').exec(text) ?? [];
  const [head = '', tail = ''] = text.split(new RegExp(`^ *- "?${PROXIES}"?\\n`, 'm'));
  const item = `${indent}- `;
  const around = tail.split(new RegExp(`"?${NAMES}"?`));
  const before = head.split(new RegExp(`"?${NAMES}"?`));
  return (proxies, names) => {
    let list = '';
    for (const proxy of proxies) list += `${item}${proxy}\n`;
    const all = names.join(', ');
    return before.join(all) + list + around.join(all);
  };
}

/** The document of a client that has no proxy: groups of a template would have no members, and nothing may go out beside the proxies unasked. */
const EMPTY = stringify(
  {
    proxies: [],
    'proxy-groups': [{ name: GROUP, type: 'select', proxies: ['REJECT', 'DIRECT'] }],
    rules: [LAST],
  },
  asWritten,
);

function seqAt(document: Document, key: string): YAMLSeq {
  const there = document.get(key, true);
  const list = isSeq(there) ? there : (document.createNode([]) as YAMLSeq);
  if (list !== there) document.set(key, list);
  list.flow = false;
  return list;
}

/** Each list that has the word gets one line, in which the names take its place. */
function markNames(document: Document): void {
  visit(document, {
    Scalar(_key, node, path) {
      const list = path.at(-1);
      if (node.value !== ALL || !isSeq(list)) return;
      list.flow = true;
      node.value = NAMES;
      node.type = 'QUOTE_DOUBLE';
    },
  });
}

const generatedGroup = (document: Document): YAMLMap =>
  document.createNode({ name: GROUP, type: 'select', proxies: [ALL, 'DIRECT'] }) as YAMLMap;

/** Whether a rule or a group names the generated group. */
function isNamed(document: Document): boolean {
  let found = false;
  visit(document, {
    Scalar(_key, { value }) {
      found ||= typeof value === 'string' && value.split(/[,#]/).some((part) => part.trim() === GROUP);
    },
  });
  return found;
}

function complete(document: Document, hasMatch: boolean): Template['write'] {
  (document.contents as YAMLMap).flow = false;
  const proxies = seqAt(document, 'proxies');
  proxies.items.unshift(document.createNode(PROXIES));
  const groups = seqAt(document, 'proxy-groups');
  const rules = seqAt(document, 'rules');
  if (!hasMatch) rules.add(document.createNode(LAST));
  const has = groups.items.some((group) => isMap(group) && group.get('name') === GROUP);
  if (!has && (groups.items.length === 0 || isNamed(document)))
    groups.items.unshift(generatedGroup(document));
  markNames(document);
  const write = compile(document.toString(asWritten));
  return (given, names) => (given.length === 0 ? EMPTY : write(given, names));
}

/** Lines, one rule each, where the text is no list and no mapping. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** A document that has nothing but these rules. */
function documentWith(rules: unknown): Document {
  const document = parseDocument('proxies: []\nproxy-groups: []\nrules: []\n');
  document.set('rules', rules);
  return document;
}

/** The key that a mapping has twice. The parser would compare each key with all others of its mapping. */
function repeatedKey(document: Document): Scalar | undefined {
  let found: Scalar | undefined;
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === MERGE) continue;
        if (seen.has(key.value)) {
          found = key;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

function documentOf(text: string): Document | string {
  const parsed = parseDocument(text, { prettyErrors: false, merge: true, uniqueKeys: false });
  const { contents } = parsed;
  if (!isMap(contents) && !isSeq(contents)) return documentWith(parsed.createNode(linesOf(text)));
  const [error] = parsed.errors;
  if (error) return `${error.message} (at character ${error.pos[0]})`;
  const repeated = repeatedKey(parsed);
  if (repeated) return `Map keys must be unique (at character ${repeated.range?.[0] ?? 0})`;
  return isMap(contents) ? parsed : documentWith(contents);
}

/** Keys of a mapping from elsewhere: its owner is not the admin, and others of them open ports or replace proxies. */
const REMOTE_KEYS = ['proxy-groups', 'rule-providers', 'rules'];
/** The same of a text that was fetched. */
export const readRemote = (text: string): Template | string => readTemplate(text, REMOTE_KEYS);

/** Returns a sentence for what is wrong with the text. Only these keys of a mapping count, or all. */
export function readTemplate(text: string, only?: readonly string[]): Template | string {
  const document = documentOf(text);
  if (typeof document === 'string') return document;
  const { contents } = document;
  if (only && isMap(contents))
    contents.items = contents.items.filter(({ key }) => isScalar(key) && only.includes(String(key.value)));
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    return (error as Error).message;
  }
  const checked = checkTemplate(values as Readonly<Record<string, unknown>>);
  if (typeof checked === 'string') return checked;
  return { taken: checked.taken, write: complete(document, checked.hasMatch) };
}

/** Without a template. */
export const PLAIN = readTemplate('') as Template;
