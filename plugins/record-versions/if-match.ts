// The header If-Match (RFC 9110, section 13.1.1).
import type { IncomingHttpHeaders } from 'node:http';
import { errors } from './errors.js';

/** hexadecimal digits of a version */
export const VERSION_LENGTH = 16;
const ONE = `"[0-9a-f]{${VERSION_LENGTH}}"`;
/** A version, or several of which one must fit. */
const LIST = new RegExp(`^${ONE}(?:[ \\t]*,[ \\t]*${ONE}){0,9}$`);
export const IF_MATCH_PATTERN = `${LIST.source}|^\\*$`;

/** The versions of which the record must have one; undefined where any will do. Throws IF_MATCH. */
export function askedVersions({ 'if-match': header }: IncomingHttpHeaders): readonly string[] | undefined {
  const sent = header?.trim();
  if (sent === undefined || sent === '*') return undefined;
  if (!LIST.test(sent)) throw errors.IF_MATCH(undefined, { path: 'If-Match' });
  return sent.split(',').map((one) => one.trim().slice(1, -1));
}
