// What a reader may choose about the page.
import { Switch } from 'react-aria-components';
import { preferencesStore, usePreferences, useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Problem } from '../parts/problem.js';
import { LanguageChoice } from './language-choice.js';
import type { Preferences } from './preferences.js';
import { useUnsentPreferences } from './use-shared.js';

const zones = (): readonly string[] =>
  typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : ['UTC'];

export function PreferencesPage() {
  const { say, format } = useReader();
  const preferences = usePreferences();
  const write = (changes: Partial<Preferences>) => preferencesStore.write(changes);
  const unsent = useUnsentPreferences(preferencesStore);
  const { theme, units, calendar, timeZone, singleKeys } = preferences;
  const named = zones();
  const offered = timeZone === '' || named.includes(timeZone) ? named : [timeZone, ...named];
  return (
    <div className="page narrow">
      <h1>{say('preferences.title')}</h1>
      <p className="muted">{say('preferences.about')}</p>
      {unsent && <Problem title={say('preferences.unsent')} {...unsent} />}
      <div className="stack">
        <LanguageChoice />
        <Choice
          label={say('preferences.theme')}
          value={theme}
          options={[
            { value: 'system', text: say('preferences.themeSystem') },
            { value: 'light', text: say('preferences.themeLight') },
            { value: 'dark', text: say('preferences.themeDark') },
          ]}
          choose={(chosen) => write({ theme: chosen })}
        />
        <Choice
          label={say('preferences.units')}
          value={units}
          options={[
            { value: 'binary', text: say('preferences.unitsBinary') },
            { value: 'decimal', text: say('preferences.unitsDecimal') },
          ]}
          choose={(chosen) => write({ units: chosen })}
        />
        <Choice
          label={say('preferences.calendar')}
          value={calendar}
          options={[
            { value: '', text: say('preferences.ofLanguage') },
            { value: 'gregory', text: say('preferences.gregorian') },
            { value: 'persian', text: say('preferences.persian') },
          ]}
          choose={(chosen) => write({ calendar: chosen })}
        />
        <Choice
          label={say('preferences.timeZone')}
          value={timeZone}
          options={[
            { value: '', text: say('preferences.ofBrowser') },
            ...offered.map((zone) => ({ value: zone, text: zone })),
          ]}
          choose={(chosen) => write({ timeZone: chosen })}
        />
        <p className="hint">{say('preferences.now', { time: format.exactly(Date.now()) })}</p>
        <Switch className="switch" isSelected={singleKeys} onChange={(on) => write({ singleKeys: on })}>
          <span className="switch-track" aria-hidden />
          {say('preferences.singleKeys')}
        </Switch>
      </div>
    </div>
  );
}
