// What a reseller may give.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import type { ResellersListReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { inboundsQuery } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import { wholeOf } from '../clients/fields.js';
import { InboundChoice } from '../clients/inbound-choice.js';
import { bytesOfTyped, gigabyteName, typedBytes } from '../format/bytes.js';
import { isolated } from '../format/names.js';
import { usePreferences, useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { adminsQuery } from '../roles/queries.js';
import { readResellersAgain, resellersQuery } from './queries.js';

export interface ResellerFormProps {
  readonly reseller: ResellersListReply[number] | 'new';
  readonly close: () => void;
}
const typed = (value: number): string => (value === 0 ? '' : String(value));
const FIELDS = ['admin', 'name', 'prefix', 'maxClients', 'maxBytes', 'maxDays'];

export function ResellerForm({ reseller, close }: ResellerFormProps) {
  const { say } = useReader();
  const { units } = usePreferences();
  const known = reseller === 'new' ? undefined : reseller;
  const admins = useQuery(adminsQuery).data ?? [];
  const others = useQuery(resellersQuery).data ?? [];
  const inbounds = useQuery(inboundsQuery);
  const [admin, setAdmin] = useState(String(known?.admin?.id ?? ''));
  const [prefix, setPrefix] = useState(known?.prefix ?? '');
  const [clients, setClients] = useState(typed(known?.maxClients ?? 0));
  const [bytes, setBytes] = useState(typedBytes(known?.maxBytes ?? 0, units));
  const [days, setDays] = useState(typed(known?.maxDays ?? 0));
  const [mayReset, setMayReset] = useState(known?.mayReset ?? false);
  const [inboundIds, setInboundIds] = useState<readonly number[]>(known?.inboundIds ?? []);
  const free = admins.filter(
    ({ id }) => id === known?.admin?.id || !others.some((other) => other.admin?.id === id),
  );
  const numbers = {
    maxClients: wholeOf(clients),
    maxBytes: bytesOfTyped(bytes, units),
    maxDays: wholeOf(days),
  };
  const save = useMutation({
    mutationFn: async () => {
      const { maxClients = 0, maxBytes = 0, maxDays = 0 } = numbers;
      const isTyped = bytes !== typedBytes(known?.maxBytes ?? 0, units);
      const limits = { maxClients, maxDays, ...(isTyped && { maxBytes }) };
      const body = { prefix: prefix.trim(), mayReset, inboundIds: [...inboundIds], ...limits };
      if (!known) await weir.resellers.add({ body: { ...body, admin: Number(admin) } });
      else
        await weir.resellers.update({
          id: known.id,
          body: { ...body, ...(admin !== '' && { admin: Number(admin) }) },
        });
    },
    onSuccess: close,
    onSettled: readResellersAgain,
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problemOf = (field: string) => {
    const value = numbers[field as keyof typeof numbers];
    const isNumber = !(field in numbers) || (value !== undefined && value >= 0);
    const problem = isNumber ? saidAt(issues.find(({ path }) => path === field)) : say('field.notNumber');
    return problem === undefined ? {} : { problem };
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const areNumbers = Object.values(numbers).every((value) => value !== undefined && value >= 0);
    if (areNumbers && !save.isPending && (known || admin !== '')) save.mutate();
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Choice
        label={say('resellers.admin')}
        hint={say('resellers.noRole')}
        value={admin}
        options={[
          ...(admin === '' ? [{ value: '', text: '' }] : []),
          ...free.map(({ id, username }) => ({ value: String(id), text: isolated(username) })),
        ]}
        choose={setAdmin}
        {...problemOf('admin')}
      />
      <Field
        label={say('resellers.prefix')}
        hint={say('resellers.prefixHint')}
        value={prefix}
        onChange={setPrefix}
        maxLength={32}
        isPlain
        {...problemOf('prefix')}
      />
      <Field
        label={say('resellers.maxClients')}
        hint={say('field.blankNoLimit')}
        value={clients}
        onChange={setClients}
        inputMode="numeric"
        isPlain
        {...problemOf('maxClients')}
      />
      <Field
        label={say('resellers.maxBytes')}
        hint={say('resellers.bytesHint')}
        unit={gigabyteName(units)}
        value={bytes}
        onChange={setBytes}
        inputMode="decimal"
        isPlain
        {...problemOf('maxBytes')}
      />
      <Field
        label={say('resellers.maxDays')}
        hint={say('field.blankNoLimit')}
        value={days}
        onChange={setDays}
        inputMode="numeric"
        isPlain
        {...problemOf('maxDays')}
      />
      <div className="checks">
        <label>
          <input type="checkbox" checked={mayReset} onChange={({ target }) => setMayReset(target.checked)} />
          {say('resellers.mayReset')}
        </label>
      </div>
      <details className="fold" open>
        <summary>{say('field.inbounds')}</summary>
        <InboundChoice options={inbounds.data ?? []} chosen={inboundIds} choose={setInboundIds} />
      </details>
      {save.error && !issues.some(({ path }) => FIELDS.includes(path)) && <Problem error={save.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={save.isPending}>
          {say(known ? 'save' : 'new.submit')}
        </Button>
      </div>
    </Form>
  );
}
