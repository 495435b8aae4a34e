// What the admin who is logged in may do. What the role does not allow is not offered; the panel refuses it in any case.
import { useQuery } from '@tanstack/react-query';
import { mayWith, type Needed, type OwnKind, ownKindOf } from './may.js';
import { rightsQuery } from './queries.js';

/** Returns what says whether the admin may do something. */
export function useMay(): (needed: Needed) => boolean {
  const rights = useQuery(rightsQuery).data;
  return (needed) => mayWith(rights, needed);
}

export const useOwnKind = (): OwnKind | undefined => ownKindOf(useQuery(rightsQuery).data);
