// The grammar that share links have in common: scheme://userinfo@host:port?query#fragment.
// Source: the Xray share-link proposal (XTLS/Xray-core discussion 716); query keys are sorted, which makes links comparable.
import { viewStream } from '../stream.js';

const percent = (c: string): string => `%${c.charCodeAt(0).toString(16).toUpperCase()}`;

const UNRESERVED = /^[\w.~-]*$/;

/** RFC 3986 for everything but unreserved characters; a space is %20. */
export const escapeComponent = (text: string): string => (UNRESERVED.test(text) ? text : encodeURIComponent(text).replace(/[!'()*]/g, percent));
/** As in forms: a space is `+`. */
const escapeQuery = (text: string): string => escapeComponent(text).replaceAll('%20', '+');

export const queryOf = (params: Readonly<Record<string, string>>): string =>
  Object.entries(params)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${escapeQuery(key)}=${escapeQuery(value)}`)
    .join('&');

/** `type` and what belongs to it, and `security`. */
export function streamParams(stream: Readonly<Record<string, unknown>>): Record<string, string> {
  const { network, security, path, host } = viewStream(stream);
  return { type: network, security, ...(network === 'ws' && { path, host }) };
}
