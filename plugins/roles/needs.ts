// What a caller needs for a call: permissions, nothing, or to be a full admin.
import type { CalledRoute } from '../access/contract.js';
import { ANY, FULL, OTHER, OWN_ACCOUNT, READING, RESELLER_PATHS } from './call-lists.js';
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

/** What a role of the kind reseller opens: nothing else. Each call below these paths shows and changes only clients of its caller. */
export const isForReseller = ({ plugin, method, path }: CalledRoute): boolean =>
  (plugin === 'resellers' && path.startsWith(RESELLER_PATHS)) || OWN_ACCOUNT.has(`${method} ${path}`);

/** Whether these permissions include this one; to write includes to read. */
export const holds = (permissions: ReadonlySet<string>, needed: string): boolean =>
  permissions.has(needed) ||
  (needed.endsWith(':read') && permissions.has(`${needed.slice(0, -':read'.length)}:write`));
