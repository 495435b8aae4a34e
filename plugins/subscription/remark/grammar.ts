// Parses a remark template. The format is the de-facto template language of panels in this family: `{{TOKEN}}`, and `|`
// between segments. The single-brace names come from another panel family, for templates that users bring
// from there.

/** Literal text, or the name of a token as written between double braces (known or not). */
export type Part = { readonly literal: string } | { readonly token: string };
/** The parts between two `|`; no two literals are neighbours, none is empty. */
export type Segment = readonly Part[];
/** At least one segment, unless a filter removed all of them. */
export type Template = readonly Segment[];

const SINGLE_BRACE_NAMES: ReadonlyMap<string, string> = new Map([
  ['EMAIL', 'EMAIL'],
  ['DATA_USAGE', 'TRAFFIC_USED'],
  ['DATA_LEFT', 'TRAFFIC_LEFT'],
  ['DATA_LIMIT', 'TRAFFIC_TOTAL'],
  ['DAYS_LEFT', 'DAYS_LEFT'],
  ['EXPIRE_DATE', 'EXPIRE_DATE'],
  ['JALALI_EXPIRE_DATE', 'JALALI_EXPIRE_DATE'],
  ['TIME_LEFT', 'TIME_LEFT'],
  ['STATUS_EMOJI', 'STATUS_EMOJI'],
  ['USAGE_PERCENTAGE', 'USAGE_PERCENTAGE'],
  ['PROTOCOL', 'PROTOCOL'],
  ['TRANSPORT', 'TRANSPORT'],
  ['SECURITY', 'SECURITY'],
]);

// Double braces are matched first at every position, so a single-brace name never matches inside of them.
const TOKEN = /\{\{([A-Z_]+)\}\}|\{([A-Z_]+)\}/g;

/** Never fails: anything that is not a token is literal text, single braces around an unknown name included. */
export function parseTemplate(text: string): Template {
  return text.split('|').map(parseSegment);
}

function parseSegment(text: string): Segment {
  const parts: Part[] = [];
  let literalFrom = 0;
  for (const match of text.matchAll(TOKEN)) {
    const token = match[1] ?? SINGLE_BRACE_NAMES.get(match[2] ?? '');
    if (token === undefined) continue;
    if (match.index > literalFrom) parts.push({ literal: text.slice(literalFrom, match.index) });
    parts.push({ token });
    literalFrom = match.index + match[0].length;
  }
  if (literalFrom < text.length) parts.push({ literal: text.slice(literalFrom) });
  return parts;
}

/** Whether it has only white space. */
export function isBlankSegment(segment: Segment): boolean {
  return segment.every((part) => 'literal' in part && part.literal.trim() === '');
}
