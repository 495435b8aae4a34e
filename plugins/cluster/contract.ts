// What the program around the panel knows of several panels on one database.
import { event, token } from '../../kernel/index.js';
import type { DatabaseClock } from './database-clock.js';

export { DatabaseClock } from './database-clock.js';

/** The clock of this process; provided by the program where the panel is one of several. */
export const SharedClock = token<DatabaseClock>('panel', 'SharedClock');

/** The part of one panel among several, for those who count and run what its machine has. */
export interface MembershipApi {
  /** of the panel: stays over restarts, and no other one has it */
  readonly name: string;
  /** Whether the panel runs a core from its start to its end, whoever leads. */
  readonly hasOwnCore: boolean;
}
/** Provided where the panel is one of several. */
export const Membership = token<MembershipApi>('cluster', 'Membership');

/** What `after` hooks were called with in another panel, by the id of the hook. */
export interface OthersWrote {
  readonly told: readonly { readonly hook: string; readonly payload: unknown }[];
}
/** Other panels of this database have changed something, and memory has it: for what must follow beside memory, such as the core. */
export const othersWrote = event<OthersWrote>('cluster/othersWrote');
