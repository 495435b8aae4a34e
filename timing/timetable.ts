// The times at which repeated work is due: an interval or a calendar time.
import { type CalendarTime, calendar, isTimeZone } from './calendar.js';
import { durationOf } from './duration.js';

/**
 * A duration (`500ms`, `5s`, `10m`, `1h`, `1d`), `{ every }` with one, or `{ at }` with a calendar time: five fields of cron
 * or an object. `jitter` is a duration: each time is delayed by a random part of it, so that many panels do not act at once.
 */
export type When =
  | string
  | { readonly every: string; readonly jitter?: string }
  | {
      readonly at: string | CalendarTime;
      /** IANA time zone; the panel's when left out */
      readonly zone?: string;
      readonly jitter?: string;
    };

export interface Timetable {
  /** for messages */
  readonly text: string;
  /** ms between two times; undefined for calendar times */
  readonly everyMs: number | undefined;
  readonly jitterMs: number;
  /** The first time after `now`, in Unix ms; `zone` applies where the timetable names none. */
  readonly next: (now: number, zone: string | undefined) => number;
}

/** Throws for an invalid timetable, with a sentence that continues after the name of its job. */
export function timetable(when: When): Timetable {
  if (typeof when !== 'string' && (typeof when !== 'object' || when === null))
    throw new Error("it needs a time, as in job(name, '10m', run)");
  const { every, at, zone, jitter, ...rest } = (typeof when === 'string' ? { every: when } : when) as {
    every?: string;
    at?: string | CalendarTime;
    zone?: string;
    jitter?: string;
  };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new Error(`"${unknown}" is unknown; use every or at, zone, jitter`);
  if ((every === undefined) === (at === undefined)) throw new Error('it needs either every or at');
  if (zone !== undefined && (at === undefined || !isTimeZone(zone)))
    throw new Error(
      at === undefined ? 'a zone needs an at' : `"${zone}" is not an IANA time zone, like Europe/Berlin`,
    );
  const jitterMs = jitter === undefined ? 0 : durationOf(jitter);
  const later = jitter === undefined ? '' : `, up to ${jitter} later`;
  if (every !== undefined) {
    const everyMs = durationOf(every);
    if (jitterMs > everyMs) throw new Error(`its jitter of ${jitter} is longer than ${every}`);
    return { text: `every ${every}${later}`, everyMs, jitterMs, next: (now) => now + everyMs };
  }
  const times = named(at);
  const text = typeof at === 'string' ? at : wordsFor(at ?? {});
  return {
    text: `at ${text}${zone === undefined ? '' : ` in ${zone}`}${later}`,
    everyMs: undefined,
    jitterMs,
    next: (now, panelZone) => times(now, zone ?? panelZone),
  };
}

/** `04:30 each sunday`; without an hour, one minute of each hour. */
function wordsFor({ hour, minute = 0, weekday, day }: CalendarTime): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const time = hour === undefined ? `minute ${minute} of each hour` : `${two(hour)}:${two(minute)}`;
  const ofMonth = day === 'last' ? 'the last day' : `day ${day}`;
  const days = [...(weekday ? [`each ${weekday}`] : []), ...(day ? [`on ${ofMonth} of the month`] : [])];
  return [time, ...days].join(' ');
}

function named(at: string | CalendarTime | undefined): ReturnType<typeof calendar> {
  try {
    return calendar(at as string | CalendarTime);
  } catch (error) {
    throw new Error(`its "at" cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
