// The language, the formatter and the choices of the reader, for all parts of the page.
import {
  createContext,
  type ReactNode,
  use,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import { I18nProvider } from 'react-aria-components';
import { Formatter } from '../format/formatter.js';
import { browserStore } from '../preferences/browser-store.js';
import type { Preferences } from '../preferences/preferences.js';
import { chooseLanguage, type Language } from './languages.js';
import { loadTexts } from './load-texts.js';
import { type Say, sayIn, type Texts } from './messages.js';

export const preferencesStore = browserStore(() => localStorage);
export const usePreferences = (): Preferences =>
  useSyncExternalStore(preferencesStore.subscribe, preferencesStore.read);

interface Spoken {
  readonly language: Language;
  readonly texts: Texts;
}
interface Reader {
  readonly say: Say;
  readonly format: Formatter;
  readonly language: Language;
}

const ReaderContext = createContext<Reader | undefined>(undefined);

/** Only below LanguageProvider. */
export function useReader(): Reader {
  const reader = use(ReaderContext);
  if (!reader) throw new Error('useReader is called outside of LanguageProvider');
  return reader;
}

export async function loadLanguage({ language }: Preferences): Promise<Spoken> {
  const chosen = chooseLanguage([language, ...navigator.languages]);
  return { language: chosen, texts: await loadTexts(chosen.key) };
}

export function LanguageProvider({ first, children }: { first: Spoken; children: ReactNode }) {
  const preferences = usePreferences();
  const [spoken, setSpoken] = useState(first);
  const { language, texts } = spoken;
  useEffect(() => {
    let isCurrent = true;
    // The language that is there stays, if the other cannot be loaded.
    loadLanguage(preferences).then(
      (loaded) => isCurrent && setSpoken((now) => (now.language === loaded.language ? now : loaded)),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [preferences]);
  useEffect(() => {
    document.documentElement.lang = language.key;
    document.documentElement.dir = language.direction;
  }, [language]);
  useEffect(() => {
    if (preferences.theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = preferences.theme;
  }, [preferences.theme]);
  const reader = useMemo<Reader>(() => {
    const format = new Formatter({
      language: language.key,
      isRightToLeft: language.direction === 'rtl',
      units: preferences.units,
      timeZone: preferences.timeZone,
      calendar: preferences.calendar || language.calendar,
    });
    return { language, format, say: sayIn(texts, format.locale) };
  }, [language, texts, preferences.units, preferences.timeZone, preferences.calendar]);
  return (
    <I18nProvider locale={reader.format.locale}>
      <ReaderContext value={reader}>{children}</ReaderContext>
    </I18nProvider>
  );
}
