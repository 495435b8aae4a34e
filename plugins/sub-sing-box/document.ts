// The document around the entries: compiled once, filled for each fetch.
import { randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '../engine/contract.js';
import { ALL } from './default-template.js';
import { ENDPOINT } from './outbound.js';
import { tagsOf } from './template.js';

/** Writes the document from the entries and their tags. */
export type WriteDocument = (entries: readonly string[], tags: readonly string[]) => string;

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** `tag`, or `tag-2`, `tag-3` …, which nobody has. */
function freeTag(tag: string, isTaken: (tag: string) => boolean): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? tag : `${tag}-${number}`;
    if (!isTaken(free)) return free;
  }
}

/** A text that no template contains. */
const MARK = randomUUID();
const HOLE = new RegExp(`(,?)"${MARK}-(all|outbounds|endpoints)"`);

export function compileDocument(template: JsonObject): WriteDocument {
  const reserved = new Set(tagsOf(template).keys());
  const outbounds = listOf(template['outbounds']).map((outbound) => {
    const members = (outbound as JsonObject)['outbounds'];
    if (!Array.isArray(members)) return outbound;
    return {
      ...(outbound as JsonObject),
      outbounds: members.map((one) => (one === ALL ? `${MARK}-all` : one)),
    };
  });
  const parts = JSON.stringify({
    ...template,
    outbounds: [...outbounds, `${MARK}-outbounds`],
    endpoints: [...listOf(template['endpoints']), `${MARK}-endpoints`],
  }).split(HOLE);
  // Without an entry nothing may be sent, and least of all directly.
  const nothing = freeTag('nothing', (tag) => reserved.has(tag));
  const block = JSON.stringify({ type: 'block', tag: nothing });

  return (entries, tags) => {
    let all = '';
    let given = '';
    let endpoints = '';
    for (const [i, entry] of entries.entries()) {
      const wanted = tags[i] ?? '';
      const tag = reserved.has(wanted)
        ? freeTag(wanted, (one) => reserved.has(one) || tags.includes(one))
        : wanted;
      const text = tag === wanted ? entry : JSON.stringify({ ...(JSON.parse(entry) as JsonObject), tag });
      all += `,${JSON.stringify(tag)}`;
      if (text.startsWith(ENDPOINT)) endpoints += `,${text}`;
      else given += `,${text}`;
    }
    if (all === '') {
      all = `,${JSON.stringify(nothing)}`;
      given = `,${block}`;
    }
    // Text, comma, name of the hole, text …; each list begins with a comma.
    let document = parts[0] ?? '';
    for (let i = 1; i < parts.length; i += 3) {
      const hole = parts[i + 1];
      const list = hole === 'all' ? all : hole === 'outbounds' ? given : endpoints;
      document += (parts[i] === ',' ? list : list.slice(1)) + (parts[i + 2] ?? '');
    }
    return document;
  };
}
