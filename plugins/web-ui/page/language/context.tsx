// The language, the formatter and the choices of the reader, for all parts of the page.
import { createContext, type ReactNode, use, useEffect, useMemo, useSyncExternalStore } from 'react';
import { I18nProvider } from 'react-aria-components';
import { Formatter } from '../format/formatter.js';
import { browserStore } from '../preferences/browser-store.js';
import type { Preferences } from '../preferences/preferences.js';
import { chooseLanguage, type Language } from './languages.js';
import { loadTexts } from './load-texts.js';
import { type Say, sayIn } from './messages.js';
import { SpokenStore } from './spoken.js';

export const preferencesStore = browserStore(() => localStorage);
export const usePreferences = (): Preferences =>
  useSyncExternalStore(preferencesStore.subscribe, preferencesStore.read);

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

export const spoken = new SpokenStore(loadTexts);
const wanted = ({ language }: Preferences): Language => chooseLanguage([language, ...navigator.languages]);
/** Before LanguageProvider is shown. */
export const loadLanguage = (preferences: Preferences): Promise<void> => spoken.start(wanted(preferences));

export function LanguageProvider({ children }: { children: ReactNode }) {
  const preferences = usePreferences();
  const { language, texts } = useSyncExternalStore(spoken.subscribe, spoken.read);
  useEffect(() => {
    // Ahead of the first page that needs them; that page waits for them and says what failed.
    spoken.whole().catch(() => undefined);
  }, []);
  useEffect(() => {
    spoken.change(wanted(preferences)).catch(() => undefined);
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
