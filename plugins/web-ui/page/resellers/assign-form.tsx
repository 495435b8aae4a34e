// Gives clients that exist to a reseller.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { readResellersAgain } from './queries.js';

const LONGEST_NAMED = 5;

export function AssignForm({ reseller, close }: { reseller: { readonly id: number }; close: () => void }) {
  const { say } = useReader();
  const [names, setNames] = useState('');
  const emails = names
    .split('\n')
    .map((name) => name.trim())
    .filter(Boolean);
  const assign = useMutation({
    mutationFn: () => weir.resellers.assign({ id: reseller.id, body: { emails } }),
    onSuccess: ({ changed, unknown }) => {
      notify(say('resellers.assigned', { count: changed }));
      if (unknown.length === 0) close();
    },
    onSettled: readResellersAgain,
  });
  const unknown = assign.data?.unknown ?? [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (emails.length > 0 && !assign.isPending) assign.mutate();
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Field
        label={say('resellers.names')}
        hint={say('resellers.assignHint')}
        value={names}
        onChange={setNames}
        isLong
        isRequired
        autoFocus
        {...(unknown.length > 0 && {
          problem: say('resellers.unknown', { names: unknown.slice(0, LONGEST_NAMED).join(', ') }),
        })}
      />
      {assign.error && <Problem error={assign.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={assign.isPending}>
          {say('resellers.assign')}
        </Button>
      </div>
    </Form>
  );
}
