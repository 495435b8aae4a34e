// When a new API token ends.
export const TOKEN_DAYS = [30, 90, 365] as const;
const DAY = 24 * 3_600_000;

/** Unix ms for a number of days as text; 0, which is never, for a blank one. */
export const endOf = (days: string, now: number): number => (days === '' ? 0 : now + Number(days) * DAY);

/** A token of a node has no end: with it, the node would be out of reach. */
export const usualDays = (kind: '' | 'node'): string => (kind === 'node' ? '' : '90');
