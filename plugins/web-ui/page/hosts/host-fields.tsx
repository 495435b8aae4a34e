// The fields of a host by section; each says what it changes, and where a link says it.
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Switch } from 'react-aria-components';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import {
  type HostField,
  type HostFieldName,
  linesOf,
  SECTIONS,
  shownFields,
  type TypedHost,
} from './fields.js';
import { machinesQuery } from './queries.js';

export interface HostFieldsProps {
  readonly typed: TypedHost;
  readonly set: (name: HostFieldName, value: string) => void;
  readonly problems: ReadonlyMap<string, string>;
}

export function HostFields(props: HostFieldsProps) {
  const { typed, problems } = props;
  const { say } = useReader();
  const fields = shownFields(typed);
  const row = (field: HostField) => <HostInput key={field.name} field={field} {...props} />;
  return SECTIONS.map((section) => {
    const own = fields.filter((field) => field.section === section);
    const basic = own.filter(({ isAdvanced }) => !isAdvanced);
    const advanced = own.filter(({ isAdvanced }) => isAdvanced);
    const set = advanced.filter(({ name }) => typed[name] !== '').length;
    return (
      <section key={section} className="card" aria-labelledby={`host-${section}`}>
        <h2 id={`host-${section}`}>{say(`hosts.section.${section}`)}</h2>
        {basic.map(row)}
        {advanced.length > 0 && (
          // A field that was refused is shown.
          <details className="fold" open={advanced.some(({ name }) => problems.has(name)) || undefined}>
            <summary>{say('forms.advanced', { count: advanced.length, set })}</summary>
            <div className="stack">{advanced.map(row)}</div>
          </details>
        )}
      </section>
    );
  });
}

interface InputProps extends HostFieldsProps {
  readonly field: HostField;
}

function HostInput({ field, typed, set, problems }: InputProps) {
  const { say } = useReader();
  const id = useId();
  const { name, input, inLink, longest, options = [] } = field;
  const label = say(`hosts.field.${name}`);
  const about = say(`hosts.hint.${name}`);
  // From left to right in each language, whatever is around it.
  const hint =
    inLink === undefined ? about : `${about} ${say('hosts.inLink', { part: `\u2066${inLink}\u2069` })}`;
  const problem = problems.get(name);
  const value = typed[name];
  const change = (next: string): void => set(name, next);
  const below = (
    <div id={id}>
      <p className="hint">{hint}</p>
      {problem !== undefined && <p className="field-problem">{problem}</p>}
    </div>
  );
  switch (input) {
    case 'switch':
      return (
        <div className="host-field">
          <Switch
            className="switch"
            aria-describedby={id}
            isSelected={value === '1'}
            onChange={(on) => change(on ? '1' : '')}
          >
            <span className="switch-track" aria-hidden />
            {label}
          </Switch>
          {below}
        </div>
      );
    case 'choice':
      return (
        <fieldset className="host-field" aria-label={label} aria-describedby={id}>
          <Choice
            label={label}
            value={value}
            options={[...new Set([...options, value])].map((one) => ({
              value: one,
              text: name === 'security' ? say(`hosts.security.${one as 'same'}`) : one || say('forms.unset'),
            }))}
            choose={change}
          />
          {below}
        </fieldset>
      );
    case 'checks':
      return (
        <fieldset className="host-field host-checks" aria-describedby={id}>
          <legend>{label}</legend>
          <Checks field={field} value={value} change={change} />
          {below}
        </fieldset>
      );
    default:
      return (
        <Field
          label={label}
          hint={hint}
          value={value}
          onChange={change}
          isLong={input === 'lines' || input === 'json'}
          isPlain={name !== 'remark' && name !== 'serverDescription'}
          isRequired={name === 'remark'}
          {...(longest !== undefined && { maxLength: longest })}
          {...(input === 'number' && { inputMode: 'numeric' as const })}
          {...(problem !== undefined && { problem })}
        />
      );
  }
}

interface ChecksProps {
  readonly field: HostField;
  readonly value: string;
  readonly change: (value: string) => void;
}

/** What is stored and not among the options stays, and can be taken away. */
function Checks({ field: { name, options }, value, change }: ChecksProps) {
  const { say } = useReader();
  const machines = useQuery({ ...machinesQuery, enabled: name === 'nodeGuids' }).data ?? [];
  const chosen = linesOf(value);
  const offered = options ?? machines.map(({ guid }) => guid);
  const all = [...new Set([...offered, ...chosen])];
  const titled = (one: string): string =>
    name === 'excludeFromSubTypes' && one === 'raw'
      ? say('hosts.raw')
      : (machines.find(({ guid }) => guid === one)?.name ?? one);
  if (all.length === 0) return <p className="muted">{say('hosts.noMachines')}</p>;
  return (
    <div className="checks">
      {all.map((one) => (
        <label key={one}>
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ target }) =>
              change((target.checked ? [...chosen, one] : chosen.filter((other) => other !== one)).join('\n'))
            }
          />
          <bdi>{shownName(titled(one))}</bdi>
        </label>
      ))}
    </div>
  );
}
