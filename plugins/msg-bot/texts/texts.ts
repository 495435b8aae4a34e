// The texts of the bot in one language, with numbers, dates and sizes as that language writes them.
import { IntlMessageFormat } from 'intl-messageformat';
import { en, type Language, type TextKey } from './en.js';
import { fa } from './fa.js';
import { escapeHtml, plain } from './html.js';
import { ru } from './ru.js';
import { zh } from './zh.js';

export const LANGUAGES: Readonly<Record<string, Language>> = { en, fa, ru, zh };
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

type Value = string | number;
export type Values = Readonly<Record<string, Value>>;

/** The language of a tag such as `fa-IR`, if there are texts in it. */
export function languageOf(tag: string): string | undefined {
  const language = tag.slice(0, 2).toLowerCase();
  return /^[a-z]{2}(?:-|$)/i.test(tag) && Object.hasOwn(LANGUAGES, language) ? language : undefined;
}

const known = new Map<string, Texts>();
/** The texts for a tag; English where there are none. */
export function textsOf(tag: string): Texts {
  const language = languageOf(tag) ?? 'en';
  const texts = known.get(language) ?? new Texts(language);
  known.set(language, texts);
  return texts;
}

export class Texts {
  readonly language: string;
  readonly #messages = new Map<TextKey, IntlMessageFormat>();
  readonly #dates = new Map<string, Intl.DateTimeFormat>();
  readonly #numbers: Intl.NumberFormat;

  constructor(language: string) {
    this.language = language;
    this.#numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  }

  #format(key: TextKey, values: Record<string, Value>): string {
    let message = this.#messages.get(key);
    if (!message) {
      const template = LANGUAGES[this.language]?.[key] ?? en[key];
      message = new IntlMessageFormat(template, this.language, undefined, { ignoreTag: true });
      this.#messages.set(key, message);
    }
    return String(message.format(values));
  }

  /** A text for a message, with marks. Texts in `values` are escaped. */
  html(key: TextKey, values: Values = {}): string {
    return this.#format(key, mapped(values, escapeHtml));
  }

  /** A text without marks: for buttons, and as a value of `html`. */
  plain(key: TextKey, values: Values = {}): string {
    return this.#format(key, mapped(values, plain));
  }

  bytes(count: number): string {
    let unit = 0;
    let value = count;
    for (; Math.abs(value) >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
    return `${this.#numbers.format(value)} ${UNITS[unit]}`;
  }

  number(value: number): string {
    return this.#numbers.format(value);
  }

  /** A moment; without a zone, in that of the machine. */
  moment(at: number, zone: string | undefined): string {
    const key = zone ?? '';
    let format = this.#dates.get(key);
    if (!format) {
      format = new Intl.DateTimeFormat(this.language, {
        dateStyle: 'medium',
        timeStyle: 'short',
        ...(zone !== undefined && { timeZone: zone }),
      });
      if (this.#dates.size > 50) this.#dates.clear();
      this.#dates.set(key, format);
    }
    // Far expiries are beyond what a date can be.
    return Math.abs(at) > 8.64e15 ? '∞' : format.format(at);
  }

  /** A span like `3 days 4 h`. */
  span(seconds: number): string {
    const days = Math.floor(seconds / 86_400);
    const hours = Math.floor((seconds % 86_400) / 3_600);
    const minutes = Math.floor((seconds % 3_600) / 60);
    const clock = `${hours}:${String(minutes).padStart(2, '0')}`;
    return days > 0 ? `${this.plain('days', { count: days })} ${clock}` : clock;
  }
}

const mapped = (values: Values, write: (text: string) => string): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? write(value) : value]),
  );
