// The second step: the first client of the inbound, which is made already.
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import { fieldOfPath, wholeOf } from '../clients/fields.js';
import { bytesOfTyped, gigabyteName } from '../format/bytes.js';
import { usePreferences, useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import type { StepProps } from './inbound-step.js';

const DAY = 24 * 3_600_000;

export function ClientStep({ typed, set, again }: StepProps & { readonly again: () => void }) {
  const { say } = useReader();
  const { units } = usePreferences();
  const { inboundId, recipe } = typed;
  const totalGB = bytesOfTyped(typed.quota, units);
  const days = wholeOf(typed.days);
  const isDays = days !== undefined && days >= 0;
  const make = useMutation({
    mutationFn: async (email: string) => {
      await weir.clients.add({
        body: {
          client: {
            email,
            enable: true,
            totalGB: totalGB ?? 0,
            expiryTime: days !== undefined && days > 0 ? Date.now() + days * DAY : 0,
            ...(recipe !== 'shadowsocks' && { flow: 'xtls-rprx-vision' as const }),
          },
          inboundIds: [inboundId],
        },
      });
      return email;
    },
    onSuccess: (email) => {
      set({ ...typed, made: email });
      void queries.invalidateQueries({ queryKey: ['clients'] });
    },
  });
  const issues = make.error instanceof PanelFailure ? make.error.issues : [];
  const nameProblem = saidAt(issues.find(({ path }) => fieldOfPath(path) === 'email'));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (totalGB !== undefined && isDays && !make.isPending) make.mutate(typed.email.trim());
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <p>{say('start.inboundMade')}</p>
      <Field
        label={say('field.email')}
        hint={say('new.nameHint')}
        value={typed.email}
        onChange={(email) => {
          set({ ...typed, email });
          make.reset();
        }}
        maxLength={255}
        isRequired
        autoFocus
        {...(nameProblem !== undefined && { problem: nameProblem })}
      />
      <details className="fold">
        <summary>{say('start.limits')}</summary>
        <div className="stack">
          <Field
            label={say('field.quota')}
            hint={say('field.blankNoLimit')}
            unit={gigabyteName(units)}
            value={typed.quota}
            onChange={(quota) => set({ ...typed, quota })}
            inputMode="decimal"
            isPlain
            {...(totalGB === undefined && { problem: say('field.notNumber') })}
          />
          <Field
            label={say('new.days')}
            hint={say('new.daysHint')}
            unit={say('field.days')}
            value={typed.days}
            onChange={(text) => set({ ...typed, days: text })}
            inputMode="numeric"
            isPlain
            {...(!isDays && { problem: say('field.notNumber') })}
          />
        </div>
      </details>
      {make.error && nameProblem === undefined && <Problem error={make.error} />}
      <div className="actions end">
        <Button className="button quiet" onPress={again}>
          {say('start.again')}
        </Button>
        <Link to="/inbound" search={{ id: String(inboundId) }} className="button">
          {say('start.seeInbound')}
        </Link>
        <Button type="submit" className="button main" isPending={make.isPending}>
          {say('start.makeClient')}
        </Button>
      </div>
    </Form>
  );
}
