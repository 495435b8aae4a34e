import { TimeSlice } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import type { SidecarUser } from './contract.js';

/** Resolves with all users that these inbounds should have: each as it is when its turn comes. */
export async function usersOf(users: ProgramUsersApi, inboundIds: readonly number[]): Promise<SidecarUser[]> {
  const found: SidecarUser[] = [];
  const slice = new TimeSlice();
  for (const inboundId of inboundIds)
    for (const clientId of users.attached(inboundId)) {
      if (slice.isOver) await slice.next();
      const ref = { inboundId, clientId };
      const user = users.user(ref);
      if (user) found.push({ ...ref, ...user });
    }
  return found;
}
