// Writes the documents of one client. Everything but the outbounds and the names follows from the list of entries and the
// settings, and is written once for each such list; a fetch puts the parts together.
import { kernelErrors, type PluginContext } from '../../kernel/index.js';
import type { JsonObject } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { EntrySource, Written } from '../subscription/contract.js';
import { cannotWrite } from './cannot.js';
import { type DocumentGroup, type DocumentGroups, DocumentGroupSources } from './contract.js';
import { afterOutbounds, beforeOutbounds, groupParts } from './document-parts.js';
import { TAG } from './outbound.js';
import type { Base, Settled } from './settled.js';

/** A text; or the name of an entry, its outbound, or what of that follows its tag. */
type Piece = string | Filled;
interface Filled {
  readonly entry: number;
  readonly of: 'name' | 'outbound' | 'rest';
  /** Most entries have one name for all clients: the last one. */
  name?: string;
  quoted?: string;
}

interface Plan {
  readonly base: Base;
  readonly groups: readonly (readonly DocumentGroup[])[];
  readonly sources: readonly (EntrySource | undefined)[];
  readonly pieces: readonly Piece[];
}

/** How each outbound of this format begins. */
const HEAD = `{"tag":${JSON.stringify(TAG)},`;
/** Lists of entries that begin with the same one: the shuffled orders of hosts, and clients without some of them. */
const MOST_PLANS = 64;

export class Documents {
  readonly #settled: Settled;
  readonly #inbounds: InboundsApi;
  readonly #contributions: PluginContext['contributions'];
  readonly #plans = new WeakMap<EntrySource, Plan[]>();
  #sources: readonly { value: DocumentGroups; fault(where: string, error: unknown): void }[] | undefined;

  constructor({
    settled,
    inbounds,
    contributions,
  }: {
    settled: Settled;
    inbounds: InboundsApi;
    contributions: PluginContext['contributions'];
  }) {
    this.#settled = settled;
    this.#inbounds = inbounds;
    this.#contributions = contributions;
  }

  body(entries: readonly string[], { names, sources }: Written): string {
    let text = '';
    for (const piece of this.#planFor(entries.length, sources).pieces)
      if (typeof piece === 'string') text += piece;
      else if (piece.of === 'name') text += quotedName(piece, names[piece.entry] ?? '');
      else {
        const outbound = entries[piece.entry] ?? '';
        text += piece.of === 'outbound' ? outbound : restOf(outbound);
      }
    return text;
  }

  #planFor(count: number, sources: Written['sources']): Plan {
    const { base } = this.#settled;
    const groups = this.#groups();
    const [first] = sources;
    const known = first && this.#plans.get(first);
    const found = known?.find(
      (plan) => plan.base === base && isSame(plan.groups, groups) && fits(plan, count, sources),
    );
    if (found) return found;
    const ordered = Array.from({ length: count }, (_, i) => sources[i]);
    const plan = { base, groups, sources: ordered, pieces: this.#pieces(base, groups.flat(), ordered) };
    if (first) {
      const current = known?.filter((one) => one.base === base && isSame(one.groups, groups)) ?? [];
      this.#plans.set(first, [plan, ...current.slice(0, MOST_PLANS - 1)]);
    }
    return plan;
  }

  /** A list without a group would make programs delete it, so the fetch fails if a source does. */
  #groups(): readonly (readonly DocumentGroup[])[] {
    this.#sources ??= this.#contributions(DocumentGroupSources);
    return this.#sources.map(({ value, fault }) => {
      try {
        return value.groups();
      } catch (cause) {
        fault('groups of JSON documents', cause);
        throw kernelErrors.PLUGIN_OFF('a source of JSON documents failed; the log says why', { cause });
      }
    });
  }

  #pieces(base: Base, groups: readonly DocumentGroup[], sources: Plan['sources']): Piece[] {
    const places = sources.map((source) => {
      if (source?.isNote) return Number.NEGATIVE_INFINITY;
      const inbound = source && this.#inbounds.get(source.inboundId);
      // Entries that belong to no inbound come last.
      return inbound ? inbound.subSortIndex : Number.POSITIVE_INFINITY;
    });
    const waiting = groups.toSorted((a, b) => a.place - b.place);
    const documents: Piece[][] = [];
    const addGroupsBefore = (place: number): void => {
      while (waiting[0] && waiting[0].place < place) {
        const document = this.#group(base, waiting.shift() as DocumentGroup, sources);
        if (document) documents.push(document);
      }
    };
    for (const [entry, place] of places.entries()) {
      addGroupsBefore(place);
      const before = `,${beforeOutbounds(base)}`;
      documents.push([
        '{"remarks":',
        { of: 'name', entry },
        ...(isOurs(sources[entry])
          ? [before, { of: 'outbound', entry } as const]
          : [before + HEAD, { of: 'rest', entry } as const]),
        `,${afterOutbounds(base, base.rules)}`,
      ]);
    }
    addGroupsBefore(Number.POSITIVE_INFINITY);
    return listed(documents, base.alwaysArray);
  }

  #group(base: Base, group: DocumentGroup, sources: Plan['sources']): Piece[] | undefined {
    const members = sources.flatMap((source, entry) =>
      source && group.inboundIds.includes(source.inboundId) ? [{ source, entry }] : [],
    );
    if (members.length === 0) return undefined;
    const taken = new Map<string, number>();
    const tagged = members.map(({ source, entry }) => {
      const tag = `${group.tagPrefix}${source.template?.account.protocol ?? 'other'}`;
      const number = (taken.get(tag) ?? 0) + 1;
      taken.set(tag, number);
      return { entry, inboundId: source.inboundId, tag: number === 1 ? tag : `${tag}-${number}` };
    });
    const { rules, rest } = groupParts(base, group, group.balancer(tagged));
    return [
      `{"remarks":${quoted(group.remarks)},${beforeOutbounds(base)}`,
      ...tagged.flatMap(({ entry, tag }, i): Piece[] => [
        `${i > 0 ? ',' : ''}{"tag":${JSON.stringify(tag)},`,
        { of: 'rest', entry },
      ]),
      `,${afterOutbounds(base, rules, rest)}`,
    ];
  }
}

/** Whether this format has written the outbound, and with its tag; otherwise a renderer of another plugin has. */
const isOurs = (source: EntrySource | undefined): boolean =>
  source?.template !== undefined && cannotWrite(source.template) === undefined;

function quotedName(piece: Filled, name: string): string {
  if (piece.name !== name || piece.quoted === undefined) {
    piece.name = name;
    piece.quoted = quoted(name);
  }
  return piece.quoted;
}
const escaped = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** In ASCII: replies in ASCII are sent three times as fast. */
function quoted(name: string): string {
  const text = JSON.stringify(name);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the first of ASCII
  return /^[\x00-\x7f]*$/.test(text) ? text : text.replaceAll(/[^\x00-\x7f]/g, escaped);
}

/** One document alone, several as a list, with texts joined. */
function listed(documents: readonly Piece[][], alwaysArray: boolean): Piece[] {
  const isList = alwaysArray || documents.length !== 1;
  const pieces = documents.flatMap((document, i): Piece[] => (i > 0 ? [',', ...document] : document));
  const all = isList ? ['[', ...pieces, ']'] : pieces;
  const joined: Piece[] = [];
  for (const piece of all) {
    const last = joined.length - 1;
    if (typeof piece === 'string' && typeof joined[last] === 'string') joined[last] += piece;
    else joined.push(piece);
  }
  return joined;
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

function fits(plan: Plan, count: number, sources: Written['sources']): boolean {
  if (plan.sources.length !== count) return false;
  for (let i = 0; i < count; i++) if (plan.sources[i] !== sources[i]) return false;
  return true;
}

/** The outbound after its tag. Renderers of other plugins may have written another one, or none. */
function restOf(outbound: string): string {
  if (outbound.startsWith(HEAD)) return outbound.slice(HEAD.length);
  const { tag: _tag, ...rest } = objectIn(outbound);
  return JSON.stringify(rest).slice(1);
}
function objectIn(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    throw new Error('a renderer for json returned text that is not an outbound in JSON');
  return value as JsonObject;
}
