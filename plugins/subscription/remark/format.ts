// Formats numbers, durations and dates for remarks. All times are Unix ms.

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Beyond it a Date is invalid and Intl throws. */
const LAST_DATE = 8.64e15;

/** Means "no limit" and "never". */
export const UNLIMITED = '∞';

/** Bytes with base 1024 and two decimals: `0.00B`, `42.00GB`; above PB only the number grows. */
export function formatTraffic(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  // The family prints with C's %.2f, which rounds an exact half (only x.125 and x.625 differ) down to the even digit.
  const rounded = (value * 8) % 4 === 1 ? value - 0.005 : value;
  return rounded.toFixed(2) + UNITS[unit];
}

/** One decimal, at most `100.0`; the sign is U+FF05, because some apps reject names with an encoded ASCII percent sign. */
export function formatShare(used: number, total: number): string {
  return `${Math.min(100, (used / total) * 100).toFixed(1)}％`;
}

/** ms until `expiryTime`: `undefined` for never, 0 when past; a negative expiry is a duration that has not started. */
function remaining(expiryTime: number, now: number): number | undefined {
  if (expiryTime === 0) return undefined;
  return expiryTime < 0 ? -expiryTime : Math.max(0, expiryTime - now);
}

/** Whole days: `∞`, `0` when past (or on the last day), `10`. */
export function formatDaysLeft(expiryTime: number, now: number): string {
  const left = remaining(expiryTime, now);
  return left === undefined ? UNLIMITED : String(Math.floor(left / DAY));
}

/** `3d 4h 5m`, `4h 5m`, `5m`; `∞`; `0` when past. */
export function formatTimeLeft(expiryTime: number, now: number): string {
  const left = remaining(expiryTime, now);
  if (left === undefined) return UNLIMITED;
  if (left === 0) return '0';
  const days = Math.floor(left / DAY);
  const hours = Math.floor((left % DAY) / HOUR);
  const minutes = Math.floor((left % HOUR) / MINUTE);
  if (days > 0) return `${days}d ${hours}h ${minutes}m`;
  return hours > 0 ? `${hours}h ${minutes}m` : `${minutes}m`;
}

/** Whole seconds, rounded down. */
export function formatUnixSeconds(time: number): string {
  return String(Math.floor(time / 1000));
}

/** `2024-01-01` in the zone (IANA name; `undefined`: the zone of the process); '' for an invalid time. */
export function formatDate(time: number, timeZone: string | undefined): string {
  return calendarDate('gregory', '-', time, timeZone);
}

/** `1402/10/11`, the Solar Hijri date; otherwise as formatDate. */
export function formatJalaliDate(time: number, timeZone: string | undefined): string {
  return calendarDate('persian', '/', time, timeZone);
}

type Calendar = 'gregory' | 'persian';

/** Creating a formatter costs a thousand times more than using it; zones come from one setting, so the map stays small. */
const formatters: Record<Calendar, Map<string, Intl.DateTimeFormat>> = {
  gregory: new Map(),
  persian: new Map(),
};

function calendarDate(
  calendar: Calendar,
  separator: string,
  time: number,
  timeZone: string | undefined,
): string {
  if (!(Math.abs(time) <= LAST_DATE)) return '';
  let year = '';
  let month = '';
  let day = '';
  // By type, not by position: locale data decides the order of the parts.
  for (const part of formatter(calendar, timeZone ?? '').formatToParts(time)) {
    if (part.type === 'year') year = part.value;
    else if (part.type === 'month') month = part.value;
    else if (part.type === 'day') day = part.value;
  }
  return year.padStart(4, '0') + separator + month + separator + day;
}

function formatter(calendar: Calendar, timeZone: string): Intl.DateTimeFormat {
  const known = formatters[calendar].get(timeZone);
  if (known) return known;
  const made = makeFormatter(calendar, timeZone);
  formatters[calendar].set(timeZone, made);
  return made;
}

function makeFormatter(calendar: Calendar, timeZone: string): Intl.DateTimeFormat {
  const locale = `en-u-ca-${calendar}-nu-latn`;
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  if (timeZone === '') return new Intl.DateTimeFormat(locale, fields);
  try {
    return new Intl.DateTimeFormat(locale, { ...fields, timeZone });
  } catch {
    // An unknown zone must not break subscriptions; at worst the date is a day off.
    return new Intl.DateTimeFormat(locale, fields);
  }
}
