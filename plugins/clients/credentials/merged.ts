import type { ClientChange } from '../contract.js';
import type { Credential, Credentials } from '../../inbounds/contract.js';
import type { ChangedCredentials } from './client-credentials.js';

/** A client's credentials after a change; null for none. */
export function mergedCredentials(
  before: Credentials | null,
  changed: ReadonlyMap<number, Credential> | undefined,
  removed: readonly number[],
): Credentials | null {
  if (!changed && (!before || !removed.some((id) => before.has(id)))) return before;
  const merged = new Map([...(before ?? []), ...(changed ?? [])].sort(([a], [b]) => a - b));
  for (const inboundId of removed) merged.delete(inboundId);
  return merged.size > 0 ? merged : null;
}

/** Null for none. */
export const credentialsIn = (
  made: readonly { readonly inboundId: number; readonly value: Credential }[],
): Credentials | null =>
  made.length > 0 ? new Map(made.map(({ inboundId, value }) => [inboundId, value])) : null;

/** The change with the credentials that the write made. */
export function withCredentials(change: ClientChange, changed: ChangedCredentials): ClientChange {
  const { after } = change;
  const made = after && changed.get(after.id);
  return made
    ? { ...change, after: { ...after, credentials: mergedCredentials(after.credentials, made, []) } }
    : change;
}
