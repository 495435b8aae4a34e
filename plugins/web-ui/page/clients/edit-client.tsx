// The usual fields of a client. Only what was changed is sent, and a draft survives whatever happens to the page.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useMemo, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import type { ClientsGetReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { inboundsQuery } from '../api/queries.js';
import type { KeyedCallOptions } from '../../../../sdk/transport.js';
import { saidAt } from '../api/trouble.js';
import { gigabyteName, type Units } from '../format/bytes.js';
import type { Formatter } from '../format/formatter.js';
import { usePreferences, useReader } from '../language/context.js';
import { conflictsOf, merged, mergedIds, onlyTheirs } from '../parts/conflict.js';
import { ConflictBox } from '../parts/conflict-box.js';
import { useDraft } from '../parts/draft.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { ExpiryField } from './expiry-field.js';
import { changesOf, fieldOfPath, type Typed, type TypedField, typedOf } from './fields.js';
import { InboundChoice } from './inbound-choice.js';
import { refreshClients } from './refresh.js';
import { doUndoable } from './undo.js';

interface Filled {
  readonly typed: Typed;
  readonly inboundIds: readonly number[];
}
interface Edited extends Filled {
  /** what the form began with: what changes on the panel meanwhile is not a change of the reader */
  readonly base: Filled & { readonly version: string };
}

function editedOf(client: ClientsGetReply, units: Units): Edited {
  const { inboundIds, version } = client;
  const filled = { typed: typedOf(client, units), inboundIds };
  return { ...filled, base: { ...filled, version } };
}

export function EditClient({ client, close }: { client: ClientsGetReply; close: (email?: string) => void }) {
  const { say, format } = useReader();
  const { units } = usePreferences();
  const inbounds = useQuery(inboundsQuery).data ?? [];
  const [start] = useState(client);
  const initial = useMemo(() => editedOf(start, units), [start, units]);
  const draft = useDraft<Edited>(`client ${client.id} ${units}`, initial);
  const { typed, inboundIds, base: before } = draft.value;
  /** what somebody else has saved meanwhile */
  const [theirs, setTheirs] = useState<Edited>();
  const [isTried, setTried] = useState(false);
  const changes = changesOf(before.typed, typed, units);
  const attached = inboundIds.filter((id) => !before.inboundIds.includes(id));
  const detached = before.inboundIds.filter((id) => !inboundIds.includes(id));
  const count = Object.keys(changes.body).length + changes.invalid.length + attached.length + detached.length;

  const save = useMutation({
    mutationFn: async () => {
      const run = () => saveClient(client.email, before.version, changes.body, attached, detached);
      await doUndoable(client.id, run, say, say('edit.done'));
      return changes.body.email ?? client.email;
    },
    onSuccess: (email) => {
      draft.discard();
      refreshClients();
      close(email);
    },
    onError(error) {
      const isLate = error instanceof PanelFailure && error.code === 'RECORD_VERSIONS_CHANGED';
      if (isLate && error.current) setTheirs(editedOf(error.current as ClientsGetReply, units));
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
    return issue ? { problem: saidAt(issue) } : {};
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
      {save.error && !theirs && <Problem error={save.error} />}
      {theirs && (
        <ConflictBox
          conflicts={conflictsOf(before.typed, typed, theirs.typed)}
          kept={onlyTheirs(before.typed, typed, theirs.typed)}
          label={(field) => say(`field.${field}`)}
          shown={(field, value) => shownTyped(field, value, format)}
          choose={(chosen) => {
            draft.set({
              typed: merged(before.typed, typed, theirs.typed, chosen),
              inboundIds: mergedIds(before.inboundIds, inboundIds, theirs.inboundIds),
              base: theirs.base,
            });
            setTheirs(undefined);
            save.reset();
          }}
        />
      )}
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
        <Button
          type="submit"
          className="button main"
          isPending={save.isPending}
          isDisabled={count === 0 || theirs !== undefined}
        >
          {say('save')}
        </Button>
      </div>
    </Form>
  );
}

/** A text of the form as people read it. */
function shownTyped(field: TypedField, value: string, format: Formatter): string {
  if (field !== 'expiry') return value;
  const time = Number(value);
  if (time < 0) return format.duration(-time);
  return time > 0 ? format.moment(time) : '';
}

/** The first call is made only if the client is as the form began; the others add and remove, and overwrite nothing. */
async function saveClient(
  email: string,
  version: string,
  body: ReturnType<typeof changesOf>['body'],
  attached: readonly number[],
  detached: readonly number[],
): Promise<void> {
  const name = body.email ?? email;
  const calls: ((options: KeyedCallOptions) => Promise<unknown>)[] = [];
  if (Object.keys(body).length > 0) calls.push((options) => weir.clients.update({ email, body }, options));
  if (attached.length > 0)
    calls.push((options) =>
      weir.clients.attach({ email: name, body: { inboundIds: [...attached] } }, options),
    );
  if (detached.length > 0)
    calls.push((options) =>
      weir.clients.detach({ email: name, body: { inboundIds: [...detached] } }, options),
    );
  for (const [index, call] of calls.entries()) await call(index === 0 ? { ifVersion: version } : {});
}
