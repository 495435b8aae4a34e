// A list of objects, each with a form of its own: logins, certificates, peers.
import { Plus } from 'lucide-react';
import { Button } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { Notes } from '../parts/field.js';
import { below, type Problems } from './problems.js';
import { type FormField, isRecord, mainOf, type Values } from './schema.js';
import { SchemaForm } from './schema-form.js';
import { type CommonProps, JsonField } from './typed-fields.js';
import { initialOf } from './values.js';

export interface RecordsProps extends CommonProps {
  readonly field: FormField;
  readonly value: unknown;
  readonly set: (value: unknown) => void;
  readonly problems: Problems | undefined;
}

export function RecordsField(props: RecordsProps) {
  const { field, value = [], set, problems, ...common } = props;
  const { say } = useReader();
  const { label: name, hint, problem } = common;
  const item = mainOf(field.schema.items ?? {});
  // What the JSON view may hold besides.
  if (!Array.isArray(value) || !value.every(isRecord))
    return <JsonField {...common} value={value} set={set} />;
  const items: readonly Values[] = value;
  return (
    <fieldset className="schema-object">
      <legend>{name}</legend>
      <Notes hint={hint} problem={problem} />
      {items.map((own, index) => {
        const number = index + 1;
        const at = `${field.name}.${index}`;
        return (
          // Another number of items: what one field of an item remembers is not for the next one.
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no other identity
          <fieldset key={`${index} of ${items.length}`} className="schema-object">
            <legend>{say('forms.item', { name, number })}</legend>
            <Notes problem={problems?.get(at)} />
            <SchemaForm
              schema={item}
              values={own}
              change={(next) => set(items.map((other, place) => (place === index ? next : other)))}
              problems={below(problems, at)}
            />
            <Button
              className="button small"
              aria-label={say('forms.removeItem', { name, number })}
              onPress={() => set(items.filter((_, place) => place !== index))}
            >
              {say('remove')}
            </Button>
          </fieldset>
        );
      })}
      <Button
        className="button small"
        aria-label={say('forms.addItem', { name })}
        onPress={() => set([...items, initialOf(item)])}
      >
        <Plus size={16} aria-hidden />
        {say('forms.add')}
      </Button>
    </fieldset>
  );
}
