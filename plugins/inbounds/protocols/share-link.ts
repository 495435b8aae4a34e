// The grammar that share links have in common: scheme://userinfo@host:port?query#fragment.
// Source: the Xray share-link proposal (XTLS/Xray-core discussion 716); query keys are sorted, which makes links comparable.
import type { ClientIdentity } from '../contract.js';

const percent = (c: string): string => `%${c.charCodeAt(0).toString(16).toUpperCase()}`;

const UNRESERVED = /^[\w.~-]*$/;

/** RFC 3986 for everything but unreserved characters; a space is %20. */
export const escapeComponent = (text: string): string =>
  UNRESERVED.test(text) ? text : encodeURIComponent(text).replace(/[!'()*]/g, percent);
/** As in forms: a space is `+`. */
const escapeQuery = (text: string): string => escapeComponent(text).replaceAll('%20', '+');

/** A value of a parameter: the same for all, or one per client; undefined leaves the parameter out. */
export type Param = string | ((client: ClientIdentity) => string | undefined);

/** Compiles a query: what is the same for all clients is written once. */
export function compileQuery(params: Readonly<Record<string, Param>>): (client: ClientIdentity) => string {
  const sorted = Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
  const pair = (key: string, value: string): string => `${escapeQuery(key)}=${escapeQuery(value)}`;
  const pieces: Param[] = [];
  let fixed: string[] = [];
  const flush = (): void => {
    if (fixed.length > 0) pieces.push(fixed.join('&'));
    fixed = [];
  };
  for (const [key, value] of sorted) {
    if (typeof value === 'string') fixed.push(pair(key, value));
    else {
      flush();
      pieces.push((client) => {
        const own = value(client);
        return own === undefined ? undefined : pair(key, own);
      });
    }
  }
  flush();
  const [only = ''] = pieces;
  if (pieces.length < 2 && typeof only === 'string') return () => only;
  return (client) => {
    let query = '';
    for (const piece of pieces) {
      const text = typeof piece === 'string' ? piece : piece(client);
      if (text !== undefined) query += query === '' ? text : `&${text}`;
    }
    return query;
  };
}
