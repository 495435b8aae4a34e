// What a caller needs for a call: permissions, nothing, or to be a full admin.
import type { CalledRoute } from '../access/contract.js';
import { ANY, FULL, OTHER, OWN_ACCOUNT, PATHS_OF_KIND, READING } from './call-lists.js';
import { resourceOf } from './resources.js';

export interface Needs {
  /** all of them; empty where every role may call it */
  readonly permissions: readonly string[];
  /** no role allows it */
  readonly onlyFull: boolean;
}
const NOTHING: Needs = { permissions: [], onlyFull: false };
const FULL_ADMIN: Needs = { permissions: [], onlyFull: true };

/** A call that no list names is one that writes, unless it is a GET. */
export function needsOf({ plugin, method, path }: CalledRoute): Needs {
  const call = `${method} ${path}`;
  if (ANY.has(call)) return NOTHING;
  if (FULL.has(call)) return FULL_ADMIN;
  const permissions = OTHER.get(call);
  if (permissions) return { permissions, onlyFull: false };
  const resource = resourceOf(plugin);
  if (resource === undefined) return FULL_ADMIN;
  const reads = method === 'GET' || READING.has(call);
  return { permissions: [`${resource}:${reads ? 'read' : 'write'}`], onlyFull: false };
}

/** Whether a call is made for a kind of role. Each of these shows and changes only the clients of its caller. */
function isMadeFor(kind: string, { plugin, path }: CalledRoute): boolean {
  // A newer panel beside this one may know further kinds.
  const made = PATHS_OF_KIND[kind];
  return made !== undefined && plugin === made.plugin && path.startsWith(made.begin);
}

/** What a role of a kind opens: nothing else. */
export const isForKind = (kind: string, called: CalledRoute): boolean =>
  isMadeFor(kind, called) || OWN_ACCOUNT.has(`${called.method} ${called.path}`);

/** Whether a call changes clients of groups: a new one that is no GET does. */
export const writesGroups = (called: CalledRoute): boolean =>
  called.method !== 'GET' && isMadeFor('groups', called);

/** Whether these permissions include this one; to write includes to read. */
export const holds = (permissions: ReadonlySet<string>, needed: string): boolean =>
  permissions.has(needed) ||
  (needed.endsWith(':read') && permissions.has(`${needed.slice(0, -':read'.length)}:write`));
