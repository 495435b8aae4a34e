// The one formatter of the page: numbers, amounts, dates and distances in time.
import { amountOf, type Units } from './bytes.js';

export interface FormatChoices {
  /** tag of the language, such as `fa` */
  readonly language: string;
  readonly isRightToLeft: boolean;
  readonly units: Units;
  /** a zone of the IANA list; blank for that of the browser */
  readonly timeZone: string;
  readonly calendar: 'gregory' | 'persian';
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From the longest on: the distance from which a unit is used. */
const DISTANCES = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', 1000],
] as const;

/** of a unit */
const MOMENT = 0.01;

/** The last moment of the last year that calendars can show. A record may have a time beyond it, for which browsers have no date. */
const LAST = Date.UTC(9999, 11, 31);
/** A time that can be shown; 0 for what is no number. */
export const shownTime = (ms: number): number => Math.min(LAST, Math.max(-LAST, Number.isNaN(ms) ? 0 : ms));

export class Formatter {
  /** Latin digits everywhere: columns of numbers line up, and people copy them. */
  readonly locale: string;
  readonly timeZone: string;
  readonly #choices: FormatChoices;
  readonly #numbers = new Map<number, Intl.NumberFormat>();
  readonly #percent: Intl.NumberFormat;
  readonly #relative: Intl.RelativeTimeFormat;
  readonly #dates = new Map<string, Intl.DateTimeFormat>();

  constructor(choices: FormatChoices) {
    this.#choices = choices;
    this.locale = `${choices.language}-u-ca-${choices.calendar}-nu-latn`;
    this.timeZone = knownZone(choices.timeZone);
    this.#percent = new Intl.NumberFormat(this.locale, { style: 'percent', maximumFractionDigits: 0 });
    this.#relative = new Intl.RelativeTimeFormat(this.locale, { numeric: 'auto' });
  }

  get units(): Units {
    return this.#choices.units;
  }

  number(value: number, digits = 0): string {
    let format = this.#numbers.get(digits);
    if (!format) {
      format = new Intl.NumberFormat(this.locale, { maximumFractionDigits: digits });
      this.#numbers.set(digits, format);
    }
    return format.format(value);
  }

  /** `share` from 0 to 1 */
  percent(share: number): string {
    return this.#percent.format(share);
  }

  bytes(bytes: number): string {
    const { value, unit, digits } = amountOf(bytes, this.#choices.units);
    return this.#together(`${this.number(value, digits)}\u00a0${unit}`);
  }

  rate(bytesPerSecond: number): string {
    const { value, unit, digits } = amountOf(bytesPerSecond, this.#choices.units);
    return this.#together(`${this.number(value, digits)}\u00a0${unit}/s`);
  }

  /** A number and its unit in Latin letters read from left to right, also between words of Persian. */
  #together(text: string): string {
    return this.#choices.isRightToLeft ? `\u2066${text}\u2069` : text;
  }

  /** date and time, to the minute */
  moment(ms: number): string {
    return this.#date('moment', { dateStyle: 'medium', timeStyle: 'short' }).format(shownTime(ms));
  }

  /** date and time with the zone */
  exactly(ms: number): string {
    return this.#date('exactly', {
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    }).format(shownTime(ms));
  }

  day(ms: number): string {
    return this.#date('day', { dateStyle: 'medium' }).format(shownTime(ms));
  }

  /** A day of a calendar, such as `2026-01-31`, which has no time zone. */
  calendarDay(day: string): string {
    const format = this.#date('calendarDay', { month: 'short', day: 'numeric', timeZone: 'UTC' });
    return format.format(shownTime(Date.parse(`${day}T00:00:00Z`)));
  }

  time(ms: number): string {
    return this.#date('time', { hour: '2-digit', minute: '2-digit' }).format(shownTime(ms));
  }

  /** For `dateTime` of a `time` element. */
  iso(ms: number): string {
    return new Date(shownTime(ms)).toISOString();
  }

  /** `in 3 days`, `2 minutes ago` */
  distance(ms: number, now: number): string {
    const gap = shownTime(ms) - now;
    for (const [unit, length] of DISTANCES)
      if (Math.abs(gap) >= length || unit === 'second')
        // Never more than there is, but what was set to 30 days a moment ago still ends in 30 days.
        return this.#relative.format(Math.trunc(gap / length + (gap > 0 ? MOMENT : 0)), unit);
    return '';
  }

  /** A length of time in its largest unit: `12 days`. */
  duration(ms: number): string {
    for (const [unit, length] of DISTANCES)
      if (ms >= length || unit === 'second')
        return new Intl.NumberFormat(this.locale, {
          style: 'unit',
          unit,
          unitDisplay: 'long',
          maximumFractionDigits: 0,
        }).format(Math.floor(ms / length));
    return '';
  }

  #date(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    let format = this.#dates.get(name);
    if (!format) {
      format = new Intl.DateTimeFormat(this.locale, { timeZone: this.timeZone, ...options });
      this.#dates.set(name, format);
    }
    return format;
  }
}

/** A zone that this browser knows; its own one for a blank or an unknown name. */
export function knownZone(name: string): string {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  if (name === '') return own;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return own;
  }
}
