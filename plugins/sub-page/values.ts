// Numbers, bytes and dates as a language writes them.
import type { Language } from './languages.js';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** To make one takes longer than to write the page. */
const kept = new Map<string, Values>();
const MOST_KEPT = 40;

export interface Values {
  count(value: number): string;
  percent(share: number): string;
  bytes(value: number): string;
  /** with the time of day */
  moment(ms: number): string;
  /** such as `30 days`, or `12 hours` */
  duration(ms: number): string;
  /** such as `in 12 days`, or `3 hours ago` */
  distance(ms: number, now: number): string;
}

/** `datepicker`: the setting; the panel of old called the Persian calendar jalali, ours is called as its pages call it. */
export function valuesOf({ tag }: Language, datepicker: string, timeZone: string | undefined): Values {
  const calendar = datepicker.startsWith('jalali') ? 'persian' : 'gregory';
  const key = `${tag} ${calendar} ${timeZone}`;
  const known = kept.get(key);
  if (known) return known;
  const made = makeValues(tag, calendar, timeZone);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, made);
  return made;
}

function makeValues(tag: string, calendar: string, timeZone: string | undefined): Values {
  const numbers = new Intl.NumberFormat(tag);
  const percents = new Intl.NumberFormat(tag, { style: 'percent' });
  const sizes = UNITS.map(
    (unit) =>
      new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 2 }),
  );
  const dates = new Intl.DateTimeFormat(tag, {
    calendar,
    dateStyle: 'long',
    timeStyle: 'short',
    ...(timeZone !== undefined && { timeZone }),
  });
  const units = (['day', 'hour', 'minute'] as const).map(
    (unit) => new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' }),
  );
  const distances = new Intl.RelativeTimeFormat(tag);
  return {
    count: (value) => numbers.format(value),
    percent: (share) => percents.format(share),
    bytes: (value) => {
      let unit = 0;
      let size = value;
      for (; size >= 1024 && unit < UNITS.length - 1; unit++) size /= 1024;
      return sizes[unit]?.format(size) ?? '';
    },
    moment: (ms) => dates.format(ms),
    duration: (ms) => {
      const [size, unit] = ms >= DAY ? [DAY, 0] : ms >= HOUR ? [HOUR, 1] : [60_000, 2];
      return units[unit]?.format(Math.max(1, Math.round(ms / size))) ?? '';
    },
    distance: (ms, now) => {
      const away = ms - now;
      if (Math.abs(away) >= 2 * DAY) return distances.format(Math.trunc(away / DAY), 'day');
      if (Math.abs(away) >= 2 * HOUR) return distances.format(Math.trunc(away / HOUR), 'hour');
      return distances.format(Math.trunc(away / 60_000), 'minute');
    },
  };
}
