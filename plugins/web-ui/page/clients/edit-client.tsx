// The usual fields of a client. Only what was changed is sent, and a draft survives whatever happens to the page.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useMemo, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import type { ClientsGetReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { inboundsQuery, queries } from '../api/queries.js';
import { gigabyteName } from '../format/bytes.js';
import { usePreferences, useReader } from '../language/context.js';
import { useDraft } from '../parts/draft.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { ExpiryField } from './expiry-field.js';
import { changesOf, fieldOfPath, type Typed, type TypedField, typedOf } from './fields.js';
import { InboundChoice } from './inbound-choice.js';

interface Edited {
  readonly typed: Typed;
  readonly inboundIds: readonly number[];
}

export function EditClient({ client, close }: { client: ClientsGetReply; close: (email?: string) => void }) {
  const { say } = useReader();
  const { units } = usePreferences();
  const inbounds = useQuery(inboundsQuery).data ?? [];
  // What the form began with: what changes on the panel meanwhile is not a change of the reader.
  const [start] = useState(client);
  const before = useMemo<Edited>(
    () => ({ typed: typedOf(start, units), inboundIds: start.inboundIds }),
    [start, units],
  );
  const draft = useDraft<Edited>(`client ${client.id} ${units}`, before);
  const { typed, inboundIds } = draft.value;
  const [isTried, setTried] = useState(false);
  const changes = changesOf(before.typed, typed, units);
  const attached = inboundIds.filter((id) => !before.inboundIds.includes(id));
  const detached = before.inboundIds.filter((id) => !inboundIds.includes(id));
  const count = Object.keys(changes.body).length + changes.invalid.length + attached.length + detached.length;

  const save = useMutation({
    mutationFn: () => saveClient(client.email, changes.body, attached, detached),
    onSuccess: (email) => {
      draft.discard();
      notify(say('edit.done'));
      void queries.invalidateQueries({ queryKey: ['client'] });
      void queries.invalidateQueries({ queryKey: ['clients'] });
      close(email);
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (changes.invalid.length === 0 && !save.isPending) save.mutate();
  };
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problemOf = (field: TypedField): { problem?: string } => {
    if (isTried && changes.invalid.includes(field)) return { problem: say('field.notNumber') };
    const issue = issues.find(({ path }) => fieldOfPath(path) === field);
    return issue ? { problem: issue.message } : {};
  };
  const set = (field: TypedField) => (value: string) =>
    draft.set({ ...draft.value, typed: { ...typed, [field]: value } });
  const bind = (field: TypedField) => ({
    value: typed[field],
    onChange: set(field),
    ...problemOf(field),
  });

  return (
    <Form className="card edit" onSubmit={submit} aria-label={say('edit')}>
      {draft.isRestored && count > 0 && <p className="hint">{say('edit.restored')}</p>}
      {save.error && <Problem error={save.error} />}
      <div className="fields">
        <Field label={say('field.email')} maxLength={255} isRequired {...bind('email')} />
        <Field
          label={say('field.quota')}
          hint={say('field.blankNoLimit')}
          unit={gigabyteName(units)}
          inputMode="decimal"
          isPlain
          {...bind('quota')}
        />
        <ExpiryField value={typed.expiry} change={set('expiry')} />
        <Field
          label={say('field.reset')}
          hint={say('field.resetHint')}
          unit={say('field.days')}
          inputMode="numeric"
          isPlain
          {...bind('reset')}
        />
        <Field
          label={say('field.limitHwid')}
          hint={say('field.blankNoLimit')}
          inputMode="numeric"
          isPlain
          {...bind('limitHwid')}
        />
        <Field
          label={say('field.limitIp')}
          hint={say('field.blankNoLimit')}
          inputMode="numeric"
          isPlain
          {...bind('limitIp')}
        />
        <Field label={say('field.group')} maxLength={255} {...bind('group')} />
        <Field
          label={say('field.tgId')}
          hint={say('field.tgIdHint')}
          inputMode="numeric"
          isPlain
          {...bind('tgId')}
        />
        <Field label={say('field.comment')} isLong {...bind('comment')} />
        <div className="field">
          <span className="label">{say('field.inbounds')}</span>
          <InboundChoice
            options={inbounds}
            chosen={inboundIds}
            choose={(ids) => draft.set({ ...draft.value, inboundIds: ids })}
          />
        </div>
      </div>
      <div className="actions end sticky">
        <span className="muted" role="status">
          {say('edit.changes', { count })}
        </span>
        <Button
          className="button"
          onPress={() => {
            draft.discard();
            close();
          }}
        >
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={save.isPending} isDisabled={count === 0}>
          {say('save')}
        </Button>
      </div>
    </Form>
  );
}

/** Resolves with the name that the client has then. */
async function saveClient(
  email: string,
  body: ReturnType<typeof changesOf>['body'],
  attached: readonly number[],
  detached: readonly number[],
): Promise<string> {
  if (Object.keys(body).length > 0) await weir.clients.update({ email, body });
  const name = body.email ?? email;
  if (attached.length > 0) await weir.clients.attach({ email: name, body: { inboundIds: [...attached] } });
  if (detached.length > 0) await weir.clients.detach({ email: name, body: { inboundIds: [...detached] } });
  return name;
}
