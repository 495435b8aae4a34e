// Removes groups of tokens from a template. It works on the template and not on the rendered text, because the
// words around a token ("📊", "D") make no sense without it.
import { isBlankSegment, type Part, type Segment, type Template } from './grammar.js';
import { TOKENS, type TokenGroup } from './tokens.js';

const SPACE: Part = { literal: ' ' };

/**
 * The template without the tokens of `groups`. A removed token takes its neighbouring literals along; the rest of a
 * segment is joined with one space; blank segments are removed. A template without these tokens is returned unchanged,
 * its spaces included. The result may have no segments.
 */
export function withoutTokens(template: Template, groups: ReadonlySet<TokenGroup>): Template {
  const removed = (part: Part | undefined): boolean => {
    if (part === undefined || !('token' in part)) return false;
    const group = TOKENS.get(part.token)?.group;
    return group !== undefined && groups.has(group);
  };
  if (!template.some((segment) => segment.some(removed))) return template;
  const kept = template
    .map((segment) => filterSegment(segment, removed))
    .filter((segment) => !isBlankSegment(segment));
  return trimEnds(kept);
}

function filterSegment(segment: Segment, removed: (part: Part | undefined) => boolean): Segment {
  const kept: Part[] = [];
  let gap = false;
  for (const [index, part] of segment.entries()) {
    const goes =
      removed(part) || ('literal' in part && (removed(segment[index - 1]) || removed(segment[index + 1])));
    if (goes) {
      gap = true;
      continue;
    }
    if (gap && kept.length > 0) kept.push(SPACE);
    gap = false;
    kept.push(part);
  }
  return kept;
}

/** A space before a removed segment would stay at the end of every remark. */
function trimEnds(template: Template): Template {
  const trimmed = template.map((segment) => [...segment]);
  const first = trimmed[0];
  const head = first?.[0];
  if (first && head && 'literal' in head) first.splice(0, 1, ...literalPart(head.literal.trimStart()));
  const last = trimmed.at(-1);
  const tail = last?.at(-1);
  if (last && tail && 'literal' in tail) last.splice(-1, 1, ...literalPart(tail.literal.trimEnd()));
  return trimmed;
}

function literalPart(literal: string): Part[] {
  return literal === '' ? [] : [{ literal }];
}
