// The fields of a JSON schema, by section; the advanced ones folded. The values and the call to save belong to the page around it.
import { type ReactNode, useId } from 'react';
import { Switch } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field, Notes } from '../parts/field.js';
import { GenerateButton } from './generate-button.js';
import { below, hasProblem, ownProblem, type Problems, problemOf } from './problems.js';
import { RecordsField } from './records-field.js';
import type { FormField, JsonSchema, Values } from './schema.js';
import { HiddenUntilSeen, JsonField, ListField, SecretField } from './typed-fields.js';
import { isEmpty, sectionsOf, typedValue, withValue } from './values.js';
import './forms.css';

export interface SchemaFormProps {
  readonly schema: JsonSchema;
  readonly values: Values;
  readonly change: (values: Values) => void;
  /** what is wrong, by the path of the field below this form, such as `sockopt.mark` */
  readonly problems?: Problems;
  /** what a page puts below a field */
  readonly beside?: (name: string) => ReactNode;
  /** what a page puts in place of a field; undefined for most */
  readonly instead?: (field: FormField) => ReactNode;
}

export function SchemaForm({ schema, values, change, problems, beside, instead }: SchemaFormProps) {
  const { say } = useReader();
  const row = (field: FormField) => {
    const own = instead?.(field);
    return own === undefined ? (
      <SchemaField key={field.name} field={field} values={values} change={change} problems={problems}>
        {beside?.(field.name)}
      </SchemaField>
    ) : (
      <div key={field.name} className="schema-field">
        {own}
      </div>
    );
  };
  const isWrong = (fields: readonly FormField[]) =>
    hasProblem(
      problems,
      fields.map(({ name }) => name),
    );
  return (
    <div className="schema-form">
      {sectionsOf(schema, values).map(({ title, basic, advanced, setCount }) => (
        <fieldset key={title} className="schema-section">
          {title !== '' && <legend>{title}</legend>}
          {basic.map(row)}
          {advanced.length > 0 && (
            <details className="fold" open={isWrong(advanced)}>
              <summary>{say('forms.advanced', { count: advanced.length, set: setCount })}</summary>
              <div className="schema-section">{advanced.map(row)}</div>
            </details>
          )}
        </fieldset>
      ))}
    </div>
  );
}

interface FieldPartProps {
  readonly field: FormField;
  readonly values: Values;
  readonly change: (values: Values) => void;
  readonly problems: Problems | undefined;
  readonly children?: ReactNode;
}

/** One field, for a page that puts something of its own beside it. */
export function SchemaField({ field, values, change, problems, children }: FieldPartProps) {
  const { name, words } = field;
  // What is replaced with an inbound is said where it is saved.
  const cost = words.change === 'none' || words.change === 'replace' ? undefined : words.change;
  const { say } = useReader();
  return (
    <div className="schema-field">
      <FieldInput
        field={field}
        value={values[name]}
        set={(value) => change(withValue(values, field, value))}
        problems={problems}
      />
      {words.generator && (
        <GenerateButton field={field} generator={words.generator} values={values} change={change} />
      )}
      {children}
      {cost && <p className="hint">{say(`forms.cost.${cost}`)}</p>}
    </div>
  );
}

interface InputProps {
  readonly field: FormField;
  readonly value: unknown;
  readonly set: (value: unknown) => void;
  readonly problems: Problems | undefined;
}

/** Certificates and the like: texts of several lines. */
const isLong = ({ maxLength }: JsonSchema): boolean => maxLength !== undefined && maxLength >= 10_000;

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');

function FieldInput({ field, value, set, problems }: InputProps) {
  const { title, schema, words, input, name, isRequired } = field;
  const { say } = useReader();
  const problem =
    input === 'object' || input === 'records' ? ownProblem(problems, name) : problemOf(problems, name);
  const id = useId();
  const common = {
    label: title,
    ...(schema.description !== undefined && { hint: schema.description }),
    ...(problem !== undefined && { problem }),
    ...(words.unit !== undefined && { unit: words.unit }),
  };
  const guarded = (long: ReactNode): ReactNode =>
    words.secret ? (
      <HiddenUntilSeen
        label={title}
        {...(problem !== undefined && { problem })}
        isBlank={isEmpty(value)}
        field={long}
      />
    ) : (
      long
    );
  const typed = (text: string): void => set(typedValue(field, text));
  switch (input) {
    case 'boolean':
      return (
        <>
          <Switch
            className="switch"
            isSelected={(value ?? schema.default) === true}
            onChange={set}
            {...((schema.description ?? problem) !== undefined && { 'aria-describedby': id })}
          >
            <span className="switch-track" aria-hidden />
            {title}
          </Switch>
          <Notes id={id} hint={schema.description} problem={problem} />
        </>
      );
    case 'choice': {
      const values = schema.enum ?? [];
      const at = values.indexOf(value ?? schema.default);
      return (
        <Choice
          {...common}
          value={String(at)}
          options={[
            ...(at < 0 || !isRequired ? [{ value: '-1', text: say('forms.unset') }] : []),
            ...values.map((option, index) => ({ value: String(index), text: textOf(option) || '–' })),
          ]}
          choose={(index) => set(values[Number(index)])}
        />
      );
    }
    case 'object':
      return (
        <fieldset className="schema-object">
          <legend>{title}</legend>
          <Notes problem={problem} />
          <SchemaForm
            schema={schema}
            values={(value ?? {}) as Values}
            change={set}
            problems={below(problems, name)}
          />
        </fieldset>
      );
    case 'list':
      return guarded(
        <ListField
          {...common}
          value={Array.isArray(value) ? value.map(textOf).join('\n') : textOf(value)}
          type={typed}
        />,
      );
    case 'records':
      return <RecordsField {...common} field={field} value={value} set={set} problems={problems} />;
    case 'json':
      return <JsonField {...common} value={value} set={set} />;
    default:
      if (isLong(schema))
        return guarded(<Field {...common} isLong isPlain value={textOf(value)} onChange={typed} />);
      return words.secret && input === 'text' ? (
        <SecretField
          {...common}
          {...(words.generated && { placeholder: say('forms.generated') })}
          value={textOf(value)}
          type={typed}
        />
      ) : (
        <Field
          {...common}
          {...(words.generated && { placeholder: say('forms.generated') })}
          {...(input === 'number' && { inputMode: 'decimal' as const })}
          isPlain={input === 'number' || words.generator !== undefined}
          value={textOf(value)}
          onChange={typed}
        />
      );
  }
}
