// A new client in three fields; what they leave open follows on its page. It ends at the links.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { inboundsQuery, queries } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import { bytesOfTyped, gigabyteName } from '../format/bytes.js';
import { usePreferences, useReader } from '../language/context.js';
import { useDraft } from '../parts/draft.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { fieldOfPath, wholeOf } from './fields.js';
import { InboundChoice } from './inbound-choice.js';

const DAY = 24 * 3_600_000;
interface Typed {
  readonly email: string;
  readonly quota: string;
  readonly days: string;
  /** null: those that are enabled */
  readonly picked: readonly number[] | null;
}
const BLANK: Typed = { email: '', quota: '', days: '', picked: null };
interface Wanted {
  readonly email: string;
  readonly totalGB: number;
  readonly days: number;
  readonly inboundIds: readonly number[];
}

export function NewClient({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const { say } = useReader();
  return (
    <Sheet title={say('new.title')} isOpen={isOpen} close={close}>
      {isOpen && <NewClientForm close={close} />}
    </Sheet>
  );
}

function NewClientForm({ close }: { close: () => void }) {
  const { say } = useReader();
  const { units } = usePreferences();
  const navigate = useNavigate();
  const inbounds = useQuery(inboundsQuery);
  const draft = useDraft<Typed>(`client new ${units}`, BLANK);
  const { email, quota, days, picked } = draft.value;
  const change = (changed: Partial<Typed>) => draft.set({ ...draft.value, ...changed });
  const enabled = (inbounds.data ?? []).filter(({ enable }) => enable).map(({ id }) => id);
  const inboundIds = picked ?? enabled;
  const totalGB = bytesOfTyped(quota, units);
  const length = wholeOf(days);
  const create = useMutation({
    mutationFn: (wanted: Wanted) =>
      weir.clients.add({
        body: {
          client: {
            email: wanted.email,
            enable: true,
            totalGB: wanted.totalGB,
            expiryTime: wanted.days > 0 ? Date.now() + wanted.days * DAY : 0,
          },
          inboundIds: [...wanted.inboundIds],
        },
      }),
    onSuccess: (_, wanted) => {
      draft.discard();
      notify(say('new.done'));
      void queries.invalidateQueries({ queryKey: ['clients'] });
      close();
      void navigate({ to: '/client', search: { name: wanted.email, edit: undefined }, hash: 'links' });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (totalGB === undefined || length === undefined || length < 0 || create.isPending) return;
    create.mutate({ email: email.trim(), totalGB, days: length, inboundIds });
  };
  const refused = create.error instanceof PanelFailure ? create.error.issues : [];
  const nameProblem = saidAt(refused.find(({ path }) => fieldOfPath(path) === 'email'));
  const cancel = () => {
    draft.discard();
    close();
  };
  return (
    <Form className="stack" onSubmit={submit}>
      {draft.isRestored && <p className="hint">{say('edit.restored')}</p>}
      <Field
        label={say('field.email')}
        hint={say('new.nameHint')}
        value={email}
        onChange={(text) => change({ email: text })}
        maxLength={255}
        isRequired
        autoFocus
        {...(nameProblem !== undefined && { problem: nameProblem })}
      />
      <Field
        label={say('field.quota')}
        hint={say('field.blankNoLimit')}
        unit={gigabyteName(units)}
        value={quota}
        onChange={(text) => change({ quota: text })}
        inputMode="decimal"
        isPlain
        {...(totalGB === undefined && { problem: say('field.notNumber') })}
      />
      <Field
        label={say('new.days')}
        hint={say('new.daysHint')}
        unit={say('field.days')}
        value={days}
        onChange={(text) => change({ days: text })}
        inputMode="numeric"
        isPlain
        {...((length === undefined || length < 0) && { problem: say('field.notNumber') })}
      />
      {inbounds.error && <Problem error={inbounds.error} retry={() => void inbounds.refetch()} />}
      <details className="fold">
        <summary>
          {say('new.inbounds', { count: inboundIds.length, all: inbounds.data?.length ?? 0 })}
        </summary>
        <InboundChoice
          options={inbounds.data ?? []}
          chosen={inboundIds}
          choose={(ids) => change({ picked: ids })}
        />
      </details>
      {inbounds.data && inboundIds.length === 0 && <p className="hint">{say('new.noInbound')}</p>}
      {create.error && nameProblem === undefined && <Problem error={create.error} />}
      <div className="actions end">
        <Button className="button" onPress={cancel}>
          {say('cancel')}
        </Button>
        <Button
          type="submit"
          className="button main"
          isPending={create.isPending}
          isDisabled={inboundIds.length === 0}
        >
          {say('new.submit')}
        </Button>
      </div>
    </Form>
  );
}
