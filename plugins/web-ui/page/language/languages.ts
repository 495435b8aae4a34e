// The languages of the page. One is added with its line here, one in load-texts.ts, and a file of texts (see the README).

export interface Language {
  /** tag of BCP 47 */
  readonly key: string;
  /** in the language itself */
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  readonly calendar: 'gregory' | 'persian';
}

const ENGLISH: Language = { key: 'en', name: 'English', direction: 'ltr', calendar: 'gregory' };
export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  { key: 'fa', name: 'فارسی', direction: 'rtl', calendar: 'persian' },
  { key: 'ru', name: 'Русский', direction: 'ltr', calendar: 'gregory' },
  { key: 'zh', name: '简体中文', direction: 'ltr', calendar: 'gregory' },
  { key: 'ar', name: 'العربية', direction: 'rtl', calendar: 'gregory' },
];

/** The first wanted language that the page has; English where it has none of them. */
export function chooseLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const found = LANGUAGES.find(({ key }) => key === tag.toLowerCase().split('-')[0]);
    if (found) return found;
  }
  return ENGLISH;
}
