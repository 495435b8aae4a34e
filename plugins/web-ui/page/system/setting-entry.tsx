// One setting: its field, its default, what a change costs, and what is wrong with it.
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { Button, Switch } from 'react-aria-components';
import type { Values } from '../forms/schema.js';
import { SchemaField } from '../forms/schema-form.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { differs, type SecretChange, type SettingRow } from './setting-fields.js';

export interface SettingEntryProps {
  readonly row: SettingRow;
  readonly values: Values;
  readonly change: (values: Values) => void;
  readonly secret: SecretChange | undefined;
  readonly changeSecret: (change: SecretChange) => void;
  readonly problems: ReadonlyMap<string, string>;
  /** variable of the environment that sets it */
  readonly variable: string | undefined;
  /** it is changed on another page, which checks it */
  readonly isElsewhere: boolean;
  readonly isChanged: boolean;
}

export function SettingEntry(props: SettingEntryProps) {
  const { row, values, change, secret, changeSecret, problems, variable, isElsewhere, isChanged } = props;
  const { field } = row;
  const { name, schema, words, title } = field;
  const { say } = useReader();
  const hint = useId();
  const isFixed = variable !== undefined || isElsewhere;
  const problem = problems.get(name);
  const isOther = differs(row, values);
  const standard = useShown(schema.default, words.unit);
  return (
    <li data-setting={name}>
      <fieldset
        className="setting"
        aria-label={title}
        aria-describedby={isFixed ? hint : undefined}
        data-changed={isChanged || undefined}
      >
        {isFixed && <FixedValue {...props} />}
        {!isFixed && words.secret && (
          <SecretField
            row={row}
            isStored={words.flag !== undefined && values[words.flag] === true}
            change={secret ?? { text: '', isCleared: false }}
            set={changeSecret}
            problem={problem}
          />
        )}
        {!isFixed && !words.secret && (
          <SchemaField field={field} values={values} change={change} problems={problems} />
        )}
        {isFixed && (
          // Inputs show these texts themselves.
          <div id={hint}>
            {schema.description !== undefined && <p className="hint">{schema.description}</p>}
            {problem !== undefined && <p className="field-problem">{problem}</p>}
          </div>
        )}
        <div className="actions setting-facts">
          <code dir="ltr">{name}</code>
          {schema.default !== undefined && (
            <span>{say('settings.default', { value: isolated(standard) })}</span>
          )}
          {isOther && <span className="tag">{say('settings.differs')}</span>}
          {isChanged && <span className="tag">{say('settings.unsaved')}</span>}
          {isOther && !isFixed && (
            <Button
              className="button small"
              aria-label={say('settings.toDefaultOf', { name: isolated(title) })}
              onPress={() => change({ ...values, [name]: schema.default })}
            >
              {say('settings.toDefault')}
            </Button>
          )}
        </div>
      </fieldset>
    </li>
  );
}

/** A value in words. */
function useShown(value: unknown, unit = ''): string {
  const { say } = useReader();
  if (typeof value === 'boolean') return say(value ? 'settings.on' : 'settings.off');
  const text = Array.isArray(value)
    ? value.join(', ')
    : typeof value === 'object' && value !== null
      ? JSON.stringify(value)
      : String(value ?? '');
  return text === '' || text === '{}' ? say('settings.blank') : shownName(`${text} ${unit}`.trim());
}

function FixedValue({ row, values, variable }: SettingEntryProps) {
  const { say } = useReader();
  const { title, words, name } = row.field;
  const isStored = words.flag !== undefined && values[words.flag] === true;
  const shown = useShown(words.secret ? isStored : values[name], words.secret ? '' : words.unit);
  return (
    <div className="setting-fixed">
      <strong>{title}</strong>
      <bdi>{words.secret ? say(isStored ? 'settings.stored' : 'settings.notStored') : shown}</bdi>
      {variable !== undefined ? (
        <p className="hint" data-reason>
          {say('settings.pinned', { variable: isolated(variable) })}
        </p>
      ) : (
        <p className="hint">
          {say('settings.elsewhere')} <Link to="/system/access">{say('system.access')}</Link>
        </p>
      )}
    </div>
  );
}

interface SecretProps {
  readonly row: SettingRow;
  readonly isStored: boolean;
  readonly change: SecretChange;
  readonly set: (change: SecretChange) => void;
  readonly problem: string | undefined;
}

/** What is stored is never shown; a blank field leaves it as it is. */
function SecretField({ row, isStored, change, set, problem }: SecretProps) {
  const { say } = useReader();
  const { title, schema } = row.field;
  const { text, isCleared } = change;
  return (
    <div className="schema-field">
      <Field
        label={title}
        type="password"
        autoComplete="new-password"
        isPlain
        isDisabled={isCleared}
        placeholder={say(isStored ? 'settings.stored' : 'settings.notStored')}
        value={text}
        onChange={(next) => set({ text: next, isCleared: false })}
        {...(schema.description !== undefined && { hint: schema.description })}
        {...(problem !== undefined && { problem })}
      />
      {isStored && (
        <Switch
          className="switch"
          isSelected={isCleared}
          onChange={(next) => set({ text: '', isCleared: next })}
        >
          <span className="switch-track" aria-hidden />
          {say('settings.clear', { name: isolated(title) })}
        </Switch>
      )}
    </div>
  );
}
