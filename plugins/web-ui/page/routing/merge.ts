// The template taken apart into fields, so that the changes of two admins can be joined field by field.
import { asText, type Entry, isSame, listOf, routingOf, tagOf, type Template, withList } from './template.js';

/** JSON text by field; blank where the template has no such field. */
export type Fields = Readonly<Record<string, string>>;

/** Entries by tag; a second one with a tag has a key of its own. */
function keyed(kind: string, list: readonly Entry[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  /** how many have had a tag, so that thousands with the same one do not look for a key one after the other */
  const counts = new Map<string, number>();
  for (const entry of list) {
    const first = `${kind} ${tagOf(entry)}`;
    let count = counts.get(first) ?? 0;
    let key = first;
    do key = ++count === 1 ? first : `${first} (${count})`;
    while (entries.has(key));
    counts.set(first, count);
    entries.set(key, entry);
  }
  return entries;
}

const TAGGED = ['outbounds', 'balancers'] as const;
const KIND = { outbounds: 'outbound', balancers: 'balancer' } as const;

function flat(template: Template): Map<string, string> {
  const fields = new Map<string, string>();
  const put = (key: string, value: unknown): void => void fields.set(key, JSON.stringify(value));
  for (const name of TAGGED)
    for (const [key, entry] of keyed(KIND[name], listOf(template, name))) put(key, entry);
  put('rules', listOf(template, 'rules'));
  for (const [name, value] of Object.entries(routingOf(template)))
    if (name !== 'rules' && name !== 'balancers') put(`routing ${name}`, value);
  for (const [name, value] of Object.entries(template))
    if (name !== 'outbounds' && name !== 'routing') put(`part ${name}`, value);
  return fields;
}

const keysOf = (template: Template, name: (typeof TAGGED)[number]): string[] => [
  ...keyed(KIND[name], listOf(template, name)).keys(),
];

/** Fields of several templates, each with all names; `order` is that of the outbounds that all of them have. */
export function fieldsOf<const T extends readonly Template[]>(...templates: T): { [K in keyof T]: Fields } {
  const all = templates.map(flat);
  const names = [...new Set(all.flatMap((fields) => [...fields.keys()]))];
  const orders = templates.map((template) => keysOf(template, 'outbounds'));
  return all.map((fields, at) => ({
    ...Object.fromEntries(names.map((name) => [name, fields.get(name) ?? ''])),
    order: JSON.stringify(orders[at]?.filter((key) => orders.every((order) => order.includes(key)))),
  })) as { [K in keyof T]: Fields };
}

/** What the reader has changed, by field. */
export function changedFields(before: Template, now: Template): string[] {
  const [old, own] = fieldsOf(before, now);
  return Object.keys(own).filter((name) => old[name] !== own[name]);
}

/** A list in the order of `lead`, with what only the other one has behind the entry that it stood behind. */
function interleaved(lead: readonly string[], other: readonly string[]): string[] {
  const list = [...lead];
  for (const [at, key] of other.entries())
    if (!list.includes(key)) list.splice(at === 0 ? 0 : list.indexOf(other[at - 1] ?? '') + 1, 0, key);
  return list;
}

/** The template of joined fields: those of `mine` and `theirs` with what was chosen. */
export function joined(fields: Fields, mine: Template, theirs: Template): Template {
  const isThere = (key: string): boolean => (fields[key] ?? '') !== '';
  const entryAt = (key: string): Entry => JSON.parse(fields[key] ?? '{}') as Entry;
  const listed = (name: (typeof TAGGED)[number], isMineFirst: boolean): Entry[] => {
    const [own, other] = [keysOf(mine, name), keysOf(theirs, name)];
    const order = isMineFirst ? interleaved(own, other) : interleaved(other, own);
    return order.filter(isThere).map(entryAt);
  };
  const [own, , result] = [...fieldsOf(mine, theirs), fields] as const;
  const wanted = JSON.parse(result['order'] ?? '[]') as string[];
  const ownOrder = keysOf(mine, 'outbounds').filter((key) => wanted.includes(key));
  let template: Record<string, unknown> = {};
  const parts = Object.keys(own).filter((key) => key.startsWith('part ') && isThere(key));
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  for (const name of names) {
    if (name === 'outbounds')
      template = withList(template, 'outbounds', listed('outbounds', isSame(ownOrder, wanted)));
    else if (name === 'routing') template['routing'] = routing();
    else if (parts.includes(`part ${name}`)) template[name] = entryAt(`part ${name}`);
  }
  return template;

  function routing(): Entry {
    const made: Record<string, unknown> = {};
    for (const name of new Set([...Object.keys(routingOf(theirs)), ...Object.keys(routingOf(mine))])) {
      if (name === 'rules') made[name] = entryAt('rules');
      else if (name === 'balancers') made[name] = listed('balancers', false);
      else if (isThere(`routing ${name}`)) made[name] = entryAt(`routing ${name}`);
    }
    return made;
  }
}

/** What a field has, for people: of a list its length, else its JSON. */
export function shownField(value: string): string {
  const parsed: unknown = value === '' ? '' : JSON.parse(value);
  return Array.isArray(parsed) ? parsed.map((item) => asText(item as Entry)).join('\n') : value;
}
