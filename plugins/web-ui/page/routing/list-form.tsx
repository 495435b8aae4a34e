// A subscription to a list of outbounds as a form. Its address may be a secret, so what is typed stays in memory.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { whenLeft } from '../api/leaving.js';
import { session } from '../api/panel.js';
import { saidAt } from '../api/trouble.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { secondsOf, type SentList, sentList, type TypedList } from './list-words.js';

const TICKS: readonly (readonly ['prepend' | 'allowPrivate' | 'allowInsecure', MessageKey])[] = [
  ['prepend', 'routing.list.prepend'],
  ['allowPrivate', 'routing.list.allowPrivate'],
  ['allowInsecure', 'routing.list.allowInsecure'],
];
const FIELDS = ['url', 'remark', 'tagPrefix', 'updateInterval'];
/** by the list, `new` for one that is not there yet */
const typing = new Map<string, TypedList>();
whenLeft(session, () => typing.clear());
addEventListener('beforeunload', (event) => {
  if (typing.size > 0) event.preventDefault();
});

export interface ListFormProps {
  readonly name: string;
  readonly initial: TypedList;
  /** of a list that is there already */
  readonly isOld: boolean;
  readonly save: (sent: SentList) => Promise<void>;
  readonly cancel: () => void;
}

export function ListForm({ name, initial, isOld, save, cancel }: ListFormProps) {
  const { say } = useReader();
  const [typed, setTyped] = useState(() => typing.get(name) ?? initial);
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const isChanged = JSON.stringify(typed) !== JSON.stringify(initial);
    if (isChanged && !isOver) typing.set(name, typed);
    else typing.delete(name);
  }, [name, typed, initial, isOver]);
  const set = (change: Partial<TypedList>): void => setTyped({ ...typed, ...change });
  const sent = sentList(typed, isOld ? initial : undefined);
  const run = useMutation({ mutationFn: save, onMutate: () => undefined, onSuccess: () => setOver(true) });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (sent && !run.isPending) run.mutate(sent);
  };
  const issues = run.error instanceof PanelFailure ? run.error.issues : [];
  const problemOf = (path: string) => {
    const issue = issues.find((one) => one.path === path);
    return issue ? { problem: saidAt(issue) } : {};
  };
  const isElsewhere = issues.length === 0 || issues.some(({ path }) => !FIELDS.includes(path));
  return (
    <Form className="stack routing-form" onSubmit={submit}>
      <Field
        label={say('routing.list.url')}
        hint={say('routing.list.urlHint')}
        placeholder="https://lists.example.com/outbounds"
        isPlain
        isRequired
        autoComplete="off"
        maxLength={2048}
        value={typed.url}
        onChange={(url) => set({ url })}
        {...problemOf('url')}
      />
      <Field
        label={say('routing.list.remark')}
        maxLength={256}
        value={typed.remark}
        onChange={(remark) => set({ remark })}
        {...problemOf('remark')}
      />
      <Field
        label={say('routing.list.prefix')}
        hint={say(isOld ? 'routing.list.prefixOld' : 'routing.list.prefixHint')}
        isPlain
        maxLength={32}
        value={typed.tagPrefix}
        onChange={(tagPrefix) => set({ tagPrefix })}
        {...problemOf('tagPrefix')}
      />
      <Field
        label={say('routing.list.interval')}
        unit={say('routing.list.minutes')}
        isPlain
        isRequired
        inputMode="decimal"
        value={typed.minutes}
        onChange={(minutes) => set({ minutes })}
        {...(secondsOf(typed.minutes) === undefined
          ? { problem: say('routing.list.intervalWrong') }
          : problemOf('updateInterval'))}
      />
      {TICKS.map(([field, text]) => (
        <label key={field} className="tick">
          <input
            type="checkbox"
            checked={typed[field]}
            onChange={({ target }) => set({ [field]: target.checked })}
          />
          {say(text)}
        </label>
      ))}
      {run.error && isElsewhere && <Problem error={run.error} />}
      <div className="actions end">
        <Button
          className="button"
          onPress={() => {
            typing.delete(name);
            setOver(true);
            cancel();
          }}
        >
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={run.isPending} isDisabled={!sent}>
          {say(isOld ? 'save' : 'routing.list.add')}
        </Button>
      </div>
    </Form>
  );
}
