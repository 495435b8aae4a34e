// What an edit of a limit costs its reseller. The sum of all charges, and what others gave on top, is never less than what
// the clients used and may still use.

/** Limits and usage of a client, in bytes; `limit` is 0 for none. */
export interface Account {
  readonly limit: number;
  readonly used: number;
}
export interface Charge {
  /** bytes that count for the quota of the reseller; never negative */
  readonly bytes: number;
  /** what the present period may use from now on without a charge */
  readonly granted: number;
}

/** What was used without a limit was given by whoever took the limit away. */
const covered = ({ limit, used }: Account, granted: number): number =>
  limit === 0 ? Math.max(granted, used) : granted;

/**
 * `granted` is the highest limit that the present period had. So a lower limit and the previous one again cost nothing, and
 * nothing comes back. A reset leaves what was used behind: the limit after it may be used once more, and costs what was used.
 */
export function chargeOf(
  before: Account | undefined,
  after: Account,
  { granted, resets }: { readonly granted: number; readonly resets: boolean },
): Charge {
  const had = before ? covered(before, granted) : 0;
  const spent = resets && before ? before.used : 0;
  const left = Math.max(0, had - spent);
  if (after.limit === 0) return { bytes: 0, granted: left };
  return { bytes: Math.max(0, spent + after.limit - had), granted: Math.max(left, after.limit) };
}

/** What a period may use after somebody else than the reseller has changed the client: all of it was given by him. */
export const grantedByOthers = (after: Account, granted: number, setsUsage: boolean): number =>
  setsUsage ? Math.max(after.limit, after.used) : Math.max(after.limit, granted);

/** What a client has used beyond all that was granted, in the seconds before the core cut it. A reset charges it; without one it counts when the client is deleted. */
export const overused = (account: Account, granted: number): number =>
  Math.max(0, account.used - covered(account, granted));
