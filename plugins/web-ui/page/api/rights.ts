// What the admin who is logged in may do. What the role does not allow is not offered; the panel refuses it in any case.
import { useQuery } from '@tanstack/react-query';
import { rightsQuery } from './queries.js';

export interface Rights {
  readonly full: boolean;
  readonly reseller: boolean;
  /** to write includes to read: both are in the list */
  readonly permissions: readonly string[];
}
/** A permission such as `clients:write`, or what only a full admin may. */
export type Needed = 'full' | `${string}:read` | `${string}:write`;

/** `rights` are null where the panel has no roles, and undefined before it has answered. */
export const mayWith = (rights: Rights | null | undefined, needed: Needed): boolean =>
  !rights || rights.full || rights.permissions.includes(needed);

/** Returns what says whether the admin may do something. */
export function useMay(): (needed: Needed) => boolean {
  const rights = useQuery(rightsQuery).data;
  return (needed) => mayWith(rights, needed);
}

export const useIsReseller = (): boolean => useQuery(rightsQuery).data?.reseller ?? false;
