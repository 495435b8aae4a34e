// The name of a new group, or another name for one.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { saidAt } from '../api/trouble.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { groupsChanged } from './queries.js';

const PATHS: ReadonlySet<string> = new Set(['name', 'newName']);

interface NameFormProps {
  /** undefined for a new group */
  readonly before?: string;
  /** of all groups */
  readonly names: readonly string[];
  readonly close: () => void;
}

export function NameForm({ before, names, close }: NameFormProps) {
  const { say } = useReader();
  const [name, setName] = useState(before ?? '');
  const wanted = name.trim();
  const isJoined = before !== undefined && wanted !== before && names.includes(wanted);
  const rename = (oldName: string, newName: string) =>
    weir.clients.groups.rename({ body: { oldName, newName } });
  const save = useMutation({
    mutationFn: async () => {
      if (before === undefined) await weir.clients.groups.create({ body: { name: wanted } });
      else await rename(before, wanted);
    },
    onSuccess() {
      close();
      groupsChanged();
      const done = say(before === undefined ? 'groups.made' : 'groups.renamed', { name: isolated(wanted) });
      // What two groups have become cannot be told apart again.
      if (before === undefined || isJoined) return notify(done);
      notify(done, {
        text: say('undo'),
        run: () =>
          void rename(wanted, before)
            .then(() => notify(say('undo.done')), notifyTrouble)
            .finally(groupsChanged),
      });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (wanted !== '' && wanted !== before && !save.isPending) save.mutate();
  };
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problem = saidAt(issues.find(({ path }) => PATHS.has(path)));
  return (
    <Form className="stack" onSubmit={submit}>
      <Field
        label={say('groups.name')}
        value={name}
        onChange={setName}
        maxLength={255}
        isRequired
        autoFocus
        {...(problem !== undefined && { problem })}
      />
      {isJoined && <p className="hint">{say('groups.joins', { name: isolated(wanted) })}</p>}
      {save.error && problem === undefined && <Problem error={save.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={save.isPending}>
          {say(before === undefined ? 'new.submit' : 'save')}
        </Button>
      </div>
    </Form>
  );
}
