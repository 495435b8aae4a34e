// When a failed attempt is repeated.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const PAUSES_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  1 * HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
];
const LONGEST_MS = 6 * HOUR;
/** No pause ends later than this. A later end is of a clock that was set back since, and counts as due. */
export const LATEST_MS = LONGEST_MS + MINUTE;
/** From this attempt on, an event that the endpoint refused is overtaken by later ones. */
const OVERTAKEN_AFTER = 3;
/** An event that fails as often, while the endpoint takes others, is given up. */
const MOST_ATTEMPTS = 15;

const pauseOf = (failures: number): number =>
  PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? PAUSES_MS[0] ?? 0;

export const isDue = (at: number, now: number): boolean => at <= now || at > now + LATEST_MS;

export interface Failure {
  readonly now: number;
  /** of this event, this one included */
  readonly attempts: number;
  /** Unix ms of the first attempt of this event */
  readonly firstAt: number;
  /** of the endpoint in a row, this one included */
  readonly failures: number;
  /** Unix ms; 0 for never */
  readonly lastDeliveredAt: number;
  /** the status of the reply; 0 without one */
  readonly status: number;
  /** what the endpoint asks for (Retry-After), in ms; 0 for nothing */
  readonly askedMs: number;
}

/** Decides when the endpoint gets its next attempt, and when this event: undefined when it is given up. */
export function afterFailure(failure: Failure): { pausedUntil: number; dueAt: number | undefined } {
  const { now, attempts, firstAt, failures, lastDeliveredAt, status, askedMs } = failure;
  const asked = Math.min(askedMs, LONGEST_MS);
  const pausedUntil = now + Math.max(pauseOf(failures), asked);
  if (attempts >= MOST_ATTEMPTS && lastDeliveredAt > firstAt) return { pausedUntil, dueAt: undefined };
  // During an outage the oldest event is tried first, each time. One that the endpoint refuses must not hold up the others.
  const isOvertaken = status !== 0 && attempts >= OVERTAKEN_AFTER;
  const own = pauseOf(Math.max(attempts, failures) + (isOvertaken ? 1 : 0));
  return { pausedUntil, dueAt: Math.max(pausedUntil + (isOvertaken ? 1 : 0), now + own) };
}

/** Reads the header Retry-After: seconds, or a date; 0 for anything else. */
export function askedPause(header: string | null, now: number): number {
  if (header === null) return 0;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * SECOND : Date.parse(header) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : 0;
}
