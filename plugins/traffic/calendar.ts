// Finds the start of periods in a time zone. A local time that daylight saving skips is the moment of the jump; one that it repeats counts once.

export type Schedule = 'never' | 'hourly' | 'daily' | 'weekly' | 'monthly';

export const DAY_MS = 86_400_000;
/** In every current time zone, periods and daylight saving start at a multiple of this. */
export const QUARTER_MS = 900_000;
const clocks = new Map<string, Intl.DateTimeFormat>();
/** By zone, the offsets of quarter hours: 100,000 clients ask for the same few thousand. */
const offsets = new Map<string, Map<number, number>>();
const MOST_OFFSETS = 10_000;

/** Returns the local time of this moment in whole seconds, as if it were UTC; without a zone, that of the machine. */
function wallClock(at: number, zone: string | undefined): number {
  const seconds = Math.floor(at / 1000) * 1000;
  const key = zone ?? '';
  let known = offsets.get(key);
  if (!known) offsets.set(key, (known = new Map()));
  const quarter = Math.floor(at / QUARTER_MS);
  let offset = known.get(quarter);
  if (offset === undefined) {
    if (known.size >= MOST_OFFSETS) known.clear();
    known.set(quarter, (offset = readClock(seconds, key) - seconds));
  }
  return seconds + offset;
}

function readClock(at: number, key: string): number {
  let clock = clocks.get(key);
  if (!clock) {
    const parts = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    } as const;
    clock = new Intl.DateTimeFormat('en-US', {
      ...parts,
      hourCycle: 'h23',
      calendar: 'gregory',
      numberingSystem: 'latn',
      timeZone: key || undefined,
    });
    clocks.set(key, clock);
  }
  const shown = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Returns the first moment at which the local time is this or later. */
function momentOf(wall: number, zone: string | undefined): number {
  const offsetAt = (at: number): number => wallClock(at, zone) - Math.floor(at / 1000) * 1000;
  const candidates = [wall - offsetAt(wall - DAY_MS), wall - offsetAt(wall + DAY_MS)].sort((a, b) => a - b);
  const shown = candidates.find((at) => wallClock(at, zone) === wall);
  if (shown !== undefined) return shown;
  // Clocks jump over it: the jump is between the two.
  let [before = wall, after = wall] = candidates;
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000;
    if (wallClock(middle, zone) >= wall) after = middle;
    else before = middle;
  }
  return after;
}

/** Returns this many days later at the same local time. */
export function daysLater(at: number, days: number, zone: string | undefined): number {
  const fraction = at - Math.floor(at / 1000) * 1000;
  return momentOf(wallClock(at, zone) + days * DAY_MS, zone) + fraction;
}

/** Days of 24 hours between the local times of two moments. */
export const localDaysBetween = (from: number, to: number, zone: string | undefined): number =>
  (wallClock(to, zone) - wallClock(from, zone)) / DAY_MS;

/** Returns the month of this moment by local time, counted from January 1970. */
export function monthOf(at: number, zone: string | undefined): number {
  const wall = new Date(wallClock(at, zone));
  return (wall.getUTCFullYear() - 1970) * 12 + wall.getUTCMonth();
}

/** Returns the start of this day of a month, as `monthOf` counts it; in a shorter month, of the last day. */
export function dayOfMonthStart(month: number, day: number, zone: string | undefined): number {
  const lastDay = new Date(Date.UTC(1970, month + 1, 0)).getUTCDate();
  return momentOf(Date.UTC(1970, month, Math.min(day, lastDay)), zone);
}

/** Returns the start of the period that contains this moment. Weeks start on Sunday; in a shorter month, the last day counts. */
export function periodStart(
  schedule: Exclude<Schedule, 'never'>,
  dayOfMonth: number,
  now: number,
  zone: string | undefined,
): number {
  const wall = new Date(wallClock(now, zone));
  const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()];
  const resetDay = (of: number): number =>
    Date.UTC(year, of, Math.min(dayOfMonth, new Date(Date.UTC(year, of + 1, 0)).getUTCDate()));
  const today = Date.UTC(year, month, day);
  const begins = {
    hourly: () => today + wall.getUTCHours() * 3_600_000,
    daily: () => today,
    weekly: () => today - wall.getUTCDay() * DAY_MS,
    monthly: () => (resetDay(month) <= today ? resetDay(month) : resetDay(month - 1)),
  };
  return momentOf(begins[schedule](), zone);
}
