// Moves clients into a group: found by a search, chosen over several searches.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { foundClientsQuery } from '../clients/found.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { useRested } from '../parts/rested.js';
import { groupsChanged } from './queries.js';

export function AddClients({ group, close }: { group: string; close: () => void }) {
  const { say } = useReader();
  const [typed, setTyped] = useState('');
  const search = useRested(typed.trim());
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const found = useQuery(foundClientsQuery(search));
  const items = found.data?.items ?? [];
  const more = Math.max(0, (found.data?.filtered ?? 0) - items.length);
  const move = useMutation({
    mutationFn: () => weir.clients.groups.bulkAdd({ body: { emails: [...chosen], group } }),
    onSuccess({ affected }) {
      notify(say('groups.added', { count: affected, name: isolated(group) }));
      close();
      groupsChanged();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (chosen.length > 0 && !move.isPending) move.mutate();
  };
  const shown = [...chosen.filter((email) => !items.some((item) => item.email === email))];
  const toggle = (email: string, on: boolean): void =>
    setChosen(on ? [...chosen, email] : chosen.filter((other) => other !== email));
  const box = (email: string, other: string) => (
    <label key={email}>
      <input
        type="checkbox"
        checked={other === group || chosen.includes(email)}
        disabled={other === group}
        onChange={({ target }) => toggle(email, target.checked)}
      />
      <bdi className="clip">{shownName(email)}</bdi>
      {other !== '' && (
        <span className="muted clip">
          {other === group ? say('groups.isIn') : say('groups.leaves', { name: isolated(other) })}
        </span>
      )}
    </label>
  );
  return (
    <Form className="stack" onSubmit={submit}>
      <Field
        label={say('groups.find')}
        type="search"
        value={typed}
        onChange={setTyped}
        maxLength={255}
        autoFocus
      />
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.data && items.length === 0 && <p className="muted">{say('clients.noMatch')}</p>}
      {items.length + shown.length > 0 && (
        <fieldset className="checks">
          <legend className="unseen">{say('groups.find')}</legend>
          {shown.map((email) => box(email, ''))}
          {items.map((item) => box(item.email, item.group))}
        </fieldset>
      )}
      {more > 0 && <p className="hint">{say('groups.moreFound', { count: more })}</p>}
      {move.error && <Problem error={move.error} />}
      <div className="actions end">
        <span className="muted" role="status">
          {say('bulk.chosen', { count: chosen.length })}
        </span>
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button
          type="submit"
          className="button main"
          isPending={move.isPending}
          isDisabled={chosen.length === 0}
        >
          {say('groups.add')}
        </Button>
      </div>
    </Form>
  );
}
