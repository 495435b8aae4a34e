import { TimeSlice } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import { userOf } from '../engine/contract.js';
import type { SidecarUser } from './contract.js';

/** Resolves with all users that these inbounds should have now. */
export async function usersOf(users: ProgramUsersApi, inboundIds: readonly number[]): Promise<SidecarUser[]> {
  const found: SidecarUser[] = [];
  const slice = new TimeSlice();
  // All at once: clients come and go while this yields.
  for (const inboundId of inboundIds)
    for (const user of [...users.users(inboundId)]) {
      if (slice.isOver) await slice.next();
      const ref = userOf(user.name);
      if (ref) found.push({ ...ref, ...user });
    }
  return found;
}
