// The common grammar of share links: scheme://userinfo@host:port?query#fragment.
// Source: the Xray share-link proposal (XTLS/Xray-core discussion 716); query keys are sorted, which makes links comparable.
import type { ByClient, ClientIdentity } from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';

/** Form encoding: a space is `+`. */
const escapeQuery = (text: string): string => percentEncode(text).replaceAll('%20', '+');

/** The value of a parameter: the same for all clients, or one per client; undefined leaves the parameter out. */
export type Param = ByClient<string | undefined>;

/** Values that differ between clients and fetches. */
export interface LinkFill {
  readonly client: ClientIdentity;
  /** without brackets */
  readonly server: string;
  /** `server:port`, IPv6 in brackets */
  readonly authority: string;
  readonly name: string;
  /** the escaped name with its `#`, or nothing */
  readonly fragment: string;
}
export type WriteLink = (fill: LinkFill) => string;

/** A value that leaves its parameter out when it is empty. */
export const unlessEmpty = (value: ByClient<string>): Param =>
  typeof value === 'function' ? (client) => value(client) || undefined : value || undefined;
/** One function for both cases: the same text for all clients, or one for each. */
export const textFor = (value: ByClient<string>): ((client: ClientIdentity) => string) =>
  typeof value === 'function' ? value : () => value;

/** Compiles a query: the parts that all clients share are written once. */
export function compileQuery(params: Readonly<Record<string, Param>>): (client: ClientIdentity) => string {
  const sorted = Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
  const pair = (key: string, value: string): string => `${escapeQuery(key)}=${escapeQuery(value)}`;
  const pieces: (string | ((client: ClientIdentity) => string | undefined))[] = [];
  let fixed: string[] = [];
  const flush = (): void => {
    if (fixed.length > 0) pieces.push(fixed.join('&'));
    fixed = [];
  };
  for (const [key, value] of sorted) {
    if (value === undefined) continue;
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
