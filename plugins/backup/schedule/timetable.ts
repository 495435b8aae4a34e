// When the next backup is due.
import { Cron } from 'croner';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const TIME = /^([01]\d|2[0-3]):([0-5]\d)(?: ([a-z]+))?$/;
const INTERVAL = /^([1-9]\d{0,2})([hd])$/;
const HOUR_MS = 3_600_000;
const LONGEST_MS = 31 * 24 * HOUR_MS;
/** After a failure. */
export const RETRY_MS = HOUR_MS;

function intervalOf(text: string): number | undefined {
  const [, number, unit] = INTERVAL.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (unit === 'd' ? 24 * HOUR_MS : HOUR_MS);
}

/** Why the setting is not valid; undefined if it is. */
export function scheduleProblem(text: string): string | undefined {
  if (text === '') return undefined;
  const interval = intervalOf(text);
  if (interval !== undefined) return interval > LONGEST_MS ? 'the interval is at most 31d' : undefined;
  const [found, , , weekday] = TIME.exec(text) ?? [];
  if (found === undefined || (weekday !== undefined && !WEEKDAYS.includes(weekday)))
    return 'it must be a time like 04:30, a time and a weekday like 04:30 sunday, an interval like 6h or 2d, or blank';
  return undefined;
}

/** The first time after `from`; without a zone, in that of the machine. `text` is valid and not blank. */
function nextAfter(text: string, from: number, zone: string | undefined): number {
  const interval = intervalOf(text);
  if (interval !== undefined) return from + interval;
  const [, hour = '0', minute = '0', weekday] = TIME.exec(text) ?? [];
  const day = weekday === undefined ? '*' : String(WEEKDAYS.indexOf(weekday));
  const cron = new Cron(`${Number(minute)} ${Number(hour)} * * ${day}`, {
    mode: '5-part',
    paused: true,
    ...(zone !== undefined && { timezone: zone }),
  });
  const next = cron.nextRun(new Date(from));
  if (!next) throw new Error(`the schedule ${JSON.stringify(text)} never comes`);
  return next.getTime();
}

/** What is remembered of scheduled backups. */
export interface RunState {
  /** the setting that it is about */
  readonly schedule: string;
  /** Unix ms since when it is set */
  readonly since: number;
  /** Unix ms of the last attempt; 0: none */
  readonly triedAt: number;
  /** Unix ms of the last attempt that succeeded; 0: none */
  readonly doneAt: number;
  /** why the last attempt failed; blank if it did not */
  readonly problem: string;
}

/** Times in the future are those of a clock that was set back since: counting begins again now. */
export function withoutFuture(state: RunState, now: number): RunState {
  if (Math.max(state.since, state.doneAt, state.triedAt) <= now) return state;
  return { ...state, since: now, doneAt: Math.min(state.doneAt, now), triedAt: Math.min(state.triedAt, now) };
}

/** Unix ms at which the next backup is due; it may be over. */
export function dueAt(state: RunState, zone: string | undefined): number {
  const next = nextAfter(state.schedule, Math.max(state.since, state.doneAt), zone);
  return state.problem !== '' ? Math.max(next, state.triedAt + RETRY_MS) : next;
}
