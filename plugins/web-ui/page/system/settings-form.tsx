// Settings as a form by section. Only what was changed is sent, and the panel checks it all before it stores any.
import { useMutation } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { type FormEvent, useEffect, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { pageUrl, weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import type { Values } from '../forms/schema.js';
import { costOf } from '../forms/values.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { useDraft } from '../parts/draft.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { SettingEntry } from './setting-entry.js';
import {
  type Extent,
  movedPage,
  namesIn,
  type PluginSettings,
  rowsOf,
  type SecretChange,
  sectionsOfRows,
  sentOf,
  settingOf,
  shownRows,
  typedAfter,
} from './setting-fields.js';
import './settings.css';

/** They need a code, which the page of access asks for. */
const ELSEWHERE: ReadonlySet<string> = new Set(['twoFactorEnable', 'twoFactorToken']);
const NO_DRAFT: { readonly typed: Values } = { typed: {} };

export interface SettingsFormProps {
  readonly plugins: readonly PluginSettings[];
  readonly stored: Values;
  /** name of the draft, unique on the page */
  readonly draftName: string;
  readonly label?: string;
  /** Sections are open until somebody closes them. */
  readonly startsOpen?: boolean;
  /** what an address asks to search for */
  readonly wanted?: string | undefined;
  readonly tellSaved?: () => void;
  /** is called with what a save would send, without secrets, whenever it is something else */
  readonly tellUnsaved?: (unsaved: Values) => void;
}

export function SettingsForm(props: SettingsFormProps) {
  const { plugins, stored, draftName, label, startsOpen = false, wanted, tellSaved, tellUnsaved } = props;
  const { say } = useReader();
  const [search, setSearch] = useState(wanted ?? '');
  // The palette leads to a setting also from this page.
  useEffect(() => {
    if (wanted !== undefined) setSearch(wanted);
  }, [wanted]);
  const [extent, setExtent] = useState<Extent>('usual');
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const draft = useDraft(draftName, NO_DRAFT);
  // Not in the draft: it is stored in the browser.
  const [secrets, setSecrets] = useState<Readonly<Record<string, SecretChange>>>({});
  const { typed } = draft.value;
  const rows = rowsOf(plugins);
  const pinned = (stored['pinned'] ?? {}) as Readonly<Record<string, string>>;
  const fixed = new Set([...Object.keys(pinned), ...ELSEWHERE]);
  const values: Values = { ...stored, ...typed };
  const sent = sentOf(rows, { stored, typed, secrets, fixed });
  const changed = namesIn(rows, sent);
  const unsaved = JSON.stringify(sentOf(rows, { stored, typed, secrets: {}, fixed }));
  useEffect(() => tellUnsaved?.(JSON.parse(unsaved) as Values), [unsaved, tellUnsaved]);
  const forget = () => {
    draft.set(NO_DRAFT);
    setSecrets({});
  };
  const save = useMutation({
    mutationFn: (body: Values) => weir.settings.update({ body }),
    gcTime: 0,
    onSuccess: async (_, body) => {
      forget();
      notify(say('edit.done'));
      const path = body['webBasePath'];
      const moved =
        path === undefined ? undefined : movedPage(pageUrl, String(stored['webBasePath']), String(path));
      if (moved) return location.assign(new URL('system/settings', moved));
      tellSaved?.();
      await Promise.all(
        ['settings', 'subscription'].map((area) => queries.invalidateQueries({ queryKey: [area] })),
      );
    },
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const isAsSent = (name: string) => JSON.stringify(save.variables?.[name]) === JSON.stringify(sent[name]);
  const problems = new Map(
    issues
      .map((issue) => [settingOf(issue.path), saidAt(issue)] as const)
      .filter(([name]) => changed.has(name) && isAsSent(name)),
  );
  const touched = new Set([...changed, ...problems.keys()]);
  const sections = sectionsOfRows(shownRows(rows, { search, extent, values, touched }), search);
  const isSearching = search.trim() !== '' || extent === 'differing';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (changed.size > 0 && !save.isPending) save.mutate(sent);
  };
  const cost = plugins
    .map((plugin) => costOf(plugin.settings, stored, { ...stored, ...sent }))
    .find((one) => one !== undefined && one !== 'none' && one !== 'replace');
  return (
    <Form className="stack" onSubmit={submit} validationBehavior="aria" aria-label={label}>
      <div className="setting-search">
        <Field label={say('settings.search')} type="search" value={search} onChange={setSearch} />
        <Choice
          label={say('settings.extent')}
          value={extent}
          options={(['usual', 'all', 'differing'] as const).map((value) => ({
            value,
            text: say(`settings.extent.${value}`),
          }))}
          choose={setExtent}
        />
      </div>
      {draft.isRestored && changed.size > 0 && <p className="hint">{say('settings.restored')}</p>}
      {sections.length === 0 && <p className="muted">{say('settings.none')}</p>}
      {sections.map(({ key, title, plugin, rows: own }) => {
        const isOpen =
          isSearching || turned.has(key) !== startsOpen || own.some(({ field }) => problems.has(field.name));
        const count = own.filter(({ field }) => changed.has(field.name)).length;
        return (
          <section key={key} className="card" data-section={title}>
            <h2 className="setting-head">
              <Button
                className="button quiet"
                aria-expanded={isOpen}
                onPress={() =>
                  setTurned((now) =>
                    now.has(key) ? new Set([...now].filter((one) => one !== key)) : new Set([...now, key]),
                  )
                }
              >
                {isOpen ? (
                  <ChevronDown size={20} aria-hidden />
                ) : (
                  <ChevronRight size={20} className="mirrored" aria-hidden />
                )}
                <bdi>{title}</bdi>
                <span className="muted" dir="ltr">
                  {plugin}
                </span>
                {count > 0 && <span className="tag">{say('settings.changes', { count })}</span>}
              </Button>
            </h2>
            {isOpen && (
              <ul className="setting-list">
                {own.map((row) => (
                  <SettingEntry
                    key={row.field.name}
                    row={row}
                    values={values}
                    change={(after) =>
                      draft.set({ typed: typedAfter(rows, typed, { before: values, after }) })
                    }
                    secret={secrets[row.field.name]}
                    changeSecret={(next) => setSecrets((now) => ({ ...now, [row.field.name]: next }))}
                    problems={problems}
                    variable={pinned[row.field.name]}
                    isElsewhere={ELSEWHERE.has(row.field.name)}
                    isChanged={changed.has(row.field.name)}
                  />
                ))}
              </ul>
            )}
          </section>
        );
      })}
      {changed.size > 0 && (
        <div className="setting-bar">
          {save.error && problems.size === 0 && <Problem error={save.error} />}
          {problems.size > 0 && (
            <p className="field-problem" role="alert">
              {say('settings.refused', { count: problems.size })}
            </p>
          )}
          {cost && <p className="hint">{say(`forms.cost.${cost}`)}</p>}
          <div className="actions end">
            <span>{say('settings.changes', { count: changed.size })}</span>
            <Button className="button" onPress={forget} isDisabled={save.isPending}>
              {say('settings.discard')}
            </Button>
            <Button type="submit" className="button main" isPending={save.isPending}>
              {say('save')}
            </Button>
          </div>
        </div>
      )}
    </Form>
  );
}
