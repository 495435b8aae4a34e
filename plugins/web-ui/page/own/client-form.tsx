// A new client on the own pages, or another limit of one.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { useOwnKind } from '../api/rights.js';
import { saidAt } from '../api/trouble.js';
import { ExpiryField } from '../clients/expiry-field.js';
import { wholeOf } from '../clients/fields.js';
import { bytesOfTyped, gigabyteName, typedBytes } from '../format/bytes.js';
import { shownName } from '../format/names.js';
import { usePreferences, useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { type OwnClient, ownCalls } from './calls.js';
import { readOwnAgain, useOwnTerms } from './queries.js';

const VISION = 'xtls-rprx-vision';

export interface OwnClientFormProps {
  /** undefined for a new one */
  readonly client: OwnClient | undefined;
  readonly close: () => void;
  readonly created?: (id: number) => void;
}

export function OwnClientForm({ client, close, created }: OwnClientFormProps) {
  const { say } = useReader();
  const { units } = usePreferences();
  const calls = ownCalls(useOwnKind());
  const terms = useOwnTerms();
  const [email, setEmail] = useState(client?.email ?? '');
  const [quota, setQuota] = useState(typedBytes(client?.totalGB ?? 0, units));
  const [expiry, setExpiry] = useState(client && client.expiryTime !== 0 ? String(client.expiryTime) : '');
  const [comment, setComment] = useState(client?.comment ?? '');
  const [picked, setPicked] = useState<readonly number[] | undefined>(client?.inboundIds);
  const [chosen, setGroup] = useState(client?.group);
  const groups = terms?.groups ?? [];
  const group = chosen ?? groups[0] ?? '';
  const allowed = terms?.inbounds ?? [];
  const inboundIds = picked ?? allowed.map(({ id }) => id);
  const totalGB = bytesOfTyped(quota, units);
  const expiryTime = wholeOf(expiry);
  const prefix = terms?.prefix ?? '';
  const save = useMutation({
    mutationFn: async (limits: { totalGB: number; expiryTime: number }) => {
      const sent = { email: email.trim(), comment, inboundIds, group, ...limits };
      if (client) {
        // A field that is not touched is not sent: rounding would change a limit that nobody has typed.
        const { totalGB: bytes, ...others } = sent;
        const isTyped = quota !== typedBytes(client.totalGB, units);
        await calls.update(client.id, { ...others, ...(isTyped && { totalGB: bytes }) });
        return client.id;
      }
      const flow = allowed.some((one) => one.flow && inboundIds.includes(one.id)) ? VISION : '';
      return calls.add({ ...sent, flow });
    },
    onSuccess: (id) => {
      notify(say(client ? 'edit.done' : 'new.done'));
      close();
      created?.(id);
    },
    onSettled: readOwnAgain,
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problemOf = (field: string) => {
    const problem = saidAt(issues.find(({ path }) => path === field));
    return problem === undefined ? {} : { problem };
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (totalGB !== undefined && expiryTime !== undefined && !save.isPending)
      save.mutate({ totalGB, expiryTime });
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Field
        label={say('field.email')}
        hint={prefix === '' ? say('new.nameHint') : say('resellers.ownPrefix', { prefix })}
        value={email}
        onChange={setEmail}
        maxLength={255}
        isRequired
        autoFocus
        {...problemOf('email')}
      />
      <Field
        label={say('field.quota')}
        hint={say(terms?.hasQuota ? 'resellers.lowerHint' : 'field.blankNoLimit')}
        unit={gigabyteName(units)}
        value={quota}
        onChange={setQuota}
        inputMode="decimal"
        isPlain
        {...(totalGB === undefined ? { problem: say('field.notNumber') } : problemOf('totalGB'))}
      />
      <ExpiryField value={expiry} change={setExpiry} />
      <Field label={say('field.comment')} value={comment} onChange={setComment} maxLength={4096} />
      {groups.length > 1 && (
        <Choice
          label={say('field.group')}
          value={group}
          options={groups.map((value) => ({ value, text: shownName(value) }))}
          choose={setGroup}
        />
      )}
      {(!client || groups.length === 0) && (
        <fieldset className="checks">
          <legend>{say('field.inbounds')}</legend>
          {allowed.map(({ id, remark, protocol }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={inboundIds.includes(id)}
                onChange={({ target }) =>
                  setPicked(target.checked ? [...inboundIds, id] : inboundIds.filter((other) => other !== id))
                }
              />
              <bdi className="clip">{shownName(remark || `#${id}`)}</bdi>
              <span className="muted">{protocol}</span>
            </label>
          ))}
        </fieldset>
      )}
      {save.error && !issues.some(({ path }) => path === 'email' || path === 'totalGB') && (
        <Problem error={save.error} />
      )}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={save.isPending}>
          {say(client ? 'save' : 'new.submit')}
        </Button>
      </div>
    </Form>
  );
}
