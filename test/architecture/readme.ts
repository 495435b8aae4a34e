// What a plugin's README says that it offers, taps, keeps and serves.
import type { Kind, Offer } from './offers.js';

const names = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/\btokens?\s+$/, 'token'],
  [/\bextension points?\s+$/, 'extension point'],
  [/\bguards?\s+$/, 'guard'],
  [/\bprepare(?: hooks?)?\s+$/, 'prepare'],
  [/\bduring(?: hooks?)?\s+$/, 'during'],
  [/\bdrafts?\s+$/, 'draft'],
  [/\bfilters?\s+$/, 'filter'],
  [/\bchooses?\s+$/, 'choose'],
  [/\bafter(?: hooks?)?\s+$/, 'after'],
  [/\bevents?\s+$/, 'event'],
];

/** `guard `beforeX`` and lists of it: a kind holds for the names that follow with commas, "and" and parentheses between them. */
export function listedOffers(readme: string): Pick<Offer, 'kind' | 'name'>[] {
  const found: Pick<Offer, 'kind' | 'name'>[] = [];
  const paragraphs = readme
    .split('\n')
    .filter((line) =>
      /^(?:Offers:|\| (?:token|extension point|prepare(?: hook)?|guard|during(?: hook)?|draft|filter|choose|after(?: hook)?|event)s? `)/.test(
        line,
      ),
    );
  for (const paragraph of paragraphs) {
    const text = paragraph
      .replace(/\sTaps:.*$/, '')
      .replaceAll(/\([^()]*\)/g, '')
      .replace(/^\| ([^|]*)\|.*$/, '$1');
    let kind: Kind | undefined;
    let from = 0;
    for (const match of text.matchAll(/`(\w+)`/g)) {
      const before = text.slice(from, match.index);
      from = match.index + match[0].length;
      kind =
        KINDS.find(([words]) => words.test(before))?.[1] ??
        (/^\s*(?:,|and|, and)\s*$/.test(before) ? kind : undefined);
      if (kind) found.push({ kind, name: match[1] ?? '' });
    }
  }
  return found;
}

const sentence = (readme: string, label: RegExp): string =>
  (label.exec(readme)?.[1] ?? '').replaceAll(/\([^()]*\)/g, '');
export const listedTaps = (readme: string): string[] =>
  names(sentence(readme, /\bTaps: ([^\n]*?)(?:\. |\.?$)/m)).map((name) => name.split('/').at(-1) ?? name);
export const listedSettings = (readme: string): string[] =>
  names(sentence(readme, /^(?:Own )?[Ss]ettings: ([^\n]*?)(?:; |\. |\.?$)/m));

export interface ListedRoute {
  readonly method: string;
  /** the whole path, or its end after `…` */
  readonly path: string;
}
/** `GET /panel/api/x` and what follows it in the same cell: `…/y` is another route with that end. Paths an admin chooses (`<…>`) are left out. */
export function listedRoutes(readme: string): ListedRoute[] {
  const found: ListedRoute[] = [];
  for (const line of readme.split('\n')) {
    let method: string | undefined;
    for (const code of names(line.startsWith('|') ? (line.split('|')[1] ?? '') : line)) {
      const [, verb, path] = /^(?:(GET|POST|PUT|PATCH|DELETE) )?([/…]\S*)$/.exec(code) ?? [];
      if (verb !== undefined) method = verb;
      else if (!line.startsWith('|')) method = undefined;
      if (method !== undefined && path !== undefined) found.push({ method, path: path.replace(/\?.*$/, '') });
    }
  }
  return found;
}
