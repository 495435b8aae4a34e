// Computes the next moment of a calendar time, such as "at 4:30 each Sunday", in a time zone.
import { Cron } from 'croner';

export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** A calendar time. A missing field matches every value: without `hour` it comes each hour, without `weekday` and `day` each day. */
export interface CalendarTime {
  /** 0 to 23 */
  readonly hour?: number;
  /** 0 to 59; 0 when it is left out */
  readonly minute?: number;
  readonly weekday?: Weekday;
  /** of the month: 1 to 31, or its last day; months without this day are skipped */
  readonly day?: number | 'last';
}

const KEYS = ['hour', 'minute', 'weekday', 'day'];
const LONGEST_PATTERN = 100;

function numberOf(name: string, value: unknown, from: number, to: number): string {
  if (!Number.isInteger(value) || (value as number) < from || (value as number) > to)
    throw new Error(
      `its ${name} must be a whole number from ${from} to ${to}, and is ${JSON.stringify(value)}`,
    );
  return String(value);
}

/** The five fields of cron: minute, hour, day of the month, month, weekday (POSIX.1-2017, crontab). */
function patternOf(time: CalendarTime): string {
  const { hour, minute = 0, weekday, day } = time;
  const unknown = Object.keys(time).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw new Error(`it has no "${unknown}"; it may have ${KEYS.join(', ')}`);
  if (weekday !== undefined && day !== undefined)
    throw new Error(
      'it has a weekday and a day of the month, which cron reads as "one or the other"; give one',
    );
  if (weekday !== undefined && !WEEKDAYS.includes(weekday))
    throw new Error(`its weekday must be one of ${WEEKDAYS.join(', ')}, and is ${JSON.stringify(weekday)}`);
  const dayOf = (named: number | 'last'): string => (named === 'last' ? 'L' : numberOf('day', named, 1, 31));
  return [
    numberOf('minute', minute, 0, 59),
    hour === undefined ? '*' : numberOf('hour', hour, 0, 23),
    day === undefined ? '*' : dayOf(day),
    '*',
    weekday === undefined ? '*' : String(WEEKDAYS.indexOf(weekday)),
  ].join(' ');
}

/** Whether this system knows the IANA zone. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses a calendar time, five fields of cron or an object; returns a function to the first moment after `now`, in Unix ms.
 * A local time that daylight saving skips comes at the change; one that it repeats comes once, but the times of an
 * unnamed hour come in both. Throws where `at` is invalid or never comes.
 */
export function calendar(at: string | CalendarTime): (now: number, zone?: string) => number {
  if (typeof at !== 'string' && (typeof at !== 'object' || at === null))
    throw new Error('it must be a text like "30 4 * * *", or an object like { hour: 4, minute: 30 }');
  const pattern = typeof at === 'string' ? at : patternOf(at);
  if (pattern.length > LONGEST_PATTERN) throw new Error(`it has more than ${LONGEST_PATTERN} characters`);
  // croner reads a text with a colon as a date.
  if (pattern.trim().split(/\s+/).length !== 5 || pattern.includes(':'))
    throw new Error('it must have five fields: minute, hour, day of the month, month, weekday');
  const next = (now: number, zone: string | undefined): number => {
    const timezone = zone === undefined ? {} : { timezone: zone };
    const found = new Cron(pattern, { mode: '5-part', paused: true, ...timezone }).nextRun(new Date(now));
    if (!found) throw new Error(`"${pattern}" never comes`);
    return found.getTime();
  };
  next(Date.UTC(2026, 0, 1), 'UTC');
  return next;
}
