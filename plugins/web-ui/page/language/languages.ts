// The languages of the page. One is added with its line here and a file of texts (see the README).
import type en from './texts/en.json';

export type MessageKey = keyof typeof en;
/** A plain text, or a parsed message (see build/messages.mjs). */
export type Texts = Readonly<Record<string, string | readonly object[]>>;

export interface Language {
  /** tag of BCP 47 */
  readonly key: string;
  /** in the language itself */
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  readonly calendar: 'gregory' | 'persian';
  readonly load: () => Promise<{ readonly default: unknown }>;
}

export const LANGUAGES: readonly Language[] = [
  {
    key: 'en',
    name: 'English',
    direction: 'ltr',
    calendar: 'gregory',
    load: () => import('./texts/en.json'),
  },
  {
    key: 'fa',
    name: 'فارسی',
    direction: 'rtl',
    calendar: 'persian',
    load: () => import('./texts/fa.json'),
  },
];

/** The first wanted language that the page has; English where it has none of them. */
export function chooseLanguage(wanted: readonly string[], languages = LANGUAGES): Language {
  for (const tag of wanted) {
    const found = languages.find(({ key }) => key === tag.toLowerCase().split('-')[0]);
    if (found) return found;
  }
  return languages[0] as Language;
}
