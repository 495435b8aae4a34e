// The share links of a subscription: lines, or lines in base64.
import { LinkError } from './link-error.js';
import { inBase64 } from './text.js';

/** Characters of a body: what takes longer to read is not a list for people. */
const LONGEST = 8 * 1024 * 1024;
const SCHEME = /^[a-z][a-z0-9+.-]{0,31}:\/\//i;

/** Documents of other formats, by their beginning. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^\s*(?:<!doctype|<html|<\?xml|<head|<body)/i, 'it is a web page'],
  [/^\s*[[{]/, 'it is JSON; ask the source for its standard format'],
  [
    /^(?:proxies|port|mixed-port|proxy-groups|rules)\s*:/m,
    'it is YAML; ask the source for its standard format',
  ],
];

const linesOf = (text: string, most: number): string[] => {
  const lines: string[] = [];
  for (const line of text.split(/[\r\n\u2028\u2029]+/)) {
    const link = line.trim();
    if (!SCHEME.test(link)) continue;
    if (lines.push(link) === most) break;
  }
  return lines;
};

/** Returns at most `most` links, whatever their schemes. Throws a LinkError where there is none. */
export function linksIn(body: string, most: number): string[] {
  if (body.length > LONGEST)
    throw new LinkError('link', `it has ${body.length} characters; a list may have ${LONGEST}`);
  const text = body.replace(/^\uFEFF/, '');
  const plain = text.includes('://') ? undefined : inBase64(text.replaceAll(/\s+/g, ''));
  const links = linesOf(plain ?? text, most);
  if (links.length > 0) return links;
  const [, what = 'it holds no share links'] = OTHERS.find(([sign]) => sign.test(text)) ?? [];
  throw new LinkError('link', text.trim() === '' ? 'it is empty' : what);
}
