import { preferencesStore, usePreferences, useReader } from '../language/context.js';
import { LANGUAGES } from '../language/languages.js';
import { Choice } from '../parts/choice.js';

/** Names of languages are in the language itself. */
export function LanguageChoice() {
  const { say } = useReader();
  const { language } = usePreferences();
  return (
    <Choice
      label={say('preferences.language')}
      value={language}
      options={[
        { value: '', text: say('preferences.ofBrowser') },
        ...LANGUAGES.map(({ key, name }) => ({ value: key, text: name })),
      ]}
      choose={(chosen) => preferencesStore.write({ language: chosen })}
    />
  );
}
