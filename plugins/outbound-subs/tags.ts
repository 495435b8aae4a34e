// Tags of the outbounds of a list. Rules and balancers name them, so a server has the tag that it had before.
import { OWN_OUTBOUNDS } from '../engine/contract.js';
import type { Candidate, StoredOutbound } from './stored-outbound.js';

/** Tags that begin so belong to the panel. */
export const RESERVED = 'weir.';
const LONGEST_SLUG = 64;

/** Letters, digits and what balancers can be told by; everything else becomes a hyphen. */
export const slugOf = (name: string): string =>
  [...name.normalize('NFKC').replaceAll(/[^\p{L}\p{N}._]+/gu, '-')]
    .slice(0, LONGEST_SLUG)
    .join('')
    .replaceAll(/^-+|-+$/g, '');

/** A prefix and a name together may begin like a tag of the panel. */
function beginning(prefix: string, slug: string): string {
  const base = `${prefix}${slug}`;
  return base.toLowerCase().startsWith(RESERVED) ? `${prefix}-${slug}` : base;
}

interface Before {
  readonly prefix: string;
  readonly previous: readonly StoredOutbound[];
  /** tags that others have */
  readonly taken: ReadonlySet<string>;
  /** the previous outbound of this tag is not to be replaced by another server */
  readonly pinned?: string | undefined;
}

/** Gives tags in the order of the list: that of the same outbound before, else of the same server, else of the same place, else a new one. */
export function withTags(
  list: readonly Candidate[],
  { prefix, previous, taken, pinned }: Before,
): StoredOutbound[] {
  const tags = new Array<string | undefined>(list.length);
  const given = new Set<string>();
  const give = (at: number, tag: string | undefined): void => {
    if (tags[at] !== undefined || tag === undefined || given.has(tag) || taken.has(tag)) return;
    tags[at] = tag;
    given.add(tag);
  };
  for (const mark of ['digest', 'identity'] as const) {
    const known = new Map<string, string[]>();
    for (const outbound of previous)
      if (!given.has(outbound.tag))
        known.set(outbound[mark], [...(known.get(outbound[mark]) ?? []), outbound.tag]);
    for (const [at, candidate] of list.entries())
      if (tags[at] === undefined) give(at, known.get(candidate[mark])?.shift());
  }
  for (const at of list.keys()) {
    const tag = previous[at]?.tag;
    if (tag !== pinned) give(at, tag);
  }
  const isFree = (tag: string): boolean =>
    !given.has(tag) && !taken.has(tag) && tag !== pinned && !OWN_OUTBOUNDS.includes(tag);
  const numbers = new Map<string, number>();
  return list.map((candidate, at) => {
    if (tags[at] === undefined) {
      const base = beginning(prefix, slugOf(candidate.name) || String(at + 1));
      let number = numbers.get(base) ?? 1;
      let tag = base;
      while (!isFree(tag)) tag = `${base}-${++number}`;
      numbers.set(base, number);
      give(at, tag);
    }
    return { ...candidate, tag: tags[at] ?? '' };
  });
}

interface Renaming {
  readonly from: string;
  readonly to: string;
  /** tags that others have */
  readonly taken: ReadonlySet<string>;
}

/** The same outbounds under another prefix; one whose new tag is not free keeps the old one. */
export function withPrefix(list: readonly StoredOutbound[], { from, to, taken }: Renaming): StoredOutbound[] {
  const given = new Set(list.map(({ tag }) => tag));
  return list.map((outbound) => {
    const { tag } = outbound;
    const next = tag.startsWith(from) ? to + tag.slice(from.length) : tag;
    const isFree =
      !given.has(next) &&
      !taken.has(next) &&
      !OWN_OUTBOUNDS.includes(next) &&
      !next.toLowerCase().startsWith(RESERVED);
    if (!isFree) return outbound;
    given.add(next);
    return { ...outbound, tag: next };
  });
}
