// When a new API token ends, and what it may do.
export const TOKEN_DAYS = [30, 90, 365] as const;
const DAY = 24 * 3_600_000;

/** Unix ms for a number of days as text; 0, which is never, for a blank one. */
export const endOf = (days: string, now: number): number => (days === '' ? 0 : now + Number(days) * DAY);

/** Kind or role of a scope: blank for all that its maker may, `node`, or the id of a role. */
export const scopeOf = (scope: string): { kind?: string; role?: number } =>
  scope === '' ? {} : scope === 'node' ? { kind: scope } : { role: Number(scope) };

/** A token of a node has no end: with it, the node would be out of reach. */
export const usualDays = (scope: string): string => (scope === 'node' ? '' : '90');
