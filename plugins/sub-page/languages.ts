// The languages of the page.
import { ar } from './texts/ar.js';
import { en } from './texts/en.js';
import { fa } from './texts/fa.js';
import { ru } from './texts/ru.js';
import type { Texts } from './texts/texts.js';
import { zh } from './texts/zh.js';

export interface Language {
  /** as in `?lang=` */
  readonly key: string;
  /** for the page and for Intl */
  readonly tag: string;
  readonly direction: 'ltr' | 'rtl';
  readonly name: string;
  readonly texts: Texts;
}

const ENGLISH: Language = { key: 'en', tag: 'en', direction: 'ltr', name: 'English', texts: en };
export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  { key: 'fa', tag: 'fa', direction: 'rtl', name: 'فارسی', texts: fa },
  { key: 'ar', tag: 'ar', direction: 'rtl', name: 'العربية', texts: ar },
  { key: 'ru', tag: 'ru', direction: 'ltr', name: 'Русский', texts: ru },
  { key: 'zh', tag: 'zh-Hans', direction: 'ltr', name: '中文', texts: zh },
];

/** The first wish that is one of the languages, whatever its region; English otherwise. */
export function chooseLanguage(wishes: readonly (string | undefined)[]): Language {
  for (const wish of wishes) {
    const key = wish?.split('-', 1)[0]?.toLowerCase();
    const language = LANGUAGES.find((one) => one.key === key);
    if (language) return language;
  }
  return ENGLISH;
}
