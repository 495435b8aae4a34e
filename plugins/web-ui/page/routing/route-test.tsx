// Where the running core would send a connection.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { changesOf } from './draft-store.js';
import { templateQuery } from './queries.js';
import { addressFields } from './rule-words.js';
import { useDraftState } from './use-draft.js';

const NETWORKS = ['tcp', 'udp'] as const;

export function RouteTest() {
  const { say } = useReader();
  const state = useDraftState();
  const inboundTags = useQuery(templateQuery).data?.inboundTags ?? [];
  const [typed, setTyped] = useState({ address: '', port: '443', inboundTag: '', email: '' });
  const [network, setNetwork] = useState<(typeof NETWORKS)[number]>('tcp');
  const { address, port, inboundTag, email } = typed;
  const isPort = /^\d{1,5}$/.test(port.trim()) && Number(port) < 65_536;
  const ask = useMutation({
    mutationFn: () =>
      weir.engine.routeTest({
        body: { ...addressFields(address), port: Number(port), network, inboundTag, email: email.trim() },
      }),
  });
  // An answer counts for the question that was asked.
  const set = (change: Partial<typeof typed>): void => {
    setTyped({ ...typed, ...change });
    ask.reset();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isPort && !ask.isPending) ask.mutate();
  };
  const reply = ask.data;
  return (
    <section className="card" aria-labelledby="route-test">
      <h2 id="route-test">{say('routing.route.title')}</h2>
      <Form className="stack" onSubmit={submit}>
        <div className="routing-question">
          <Field
            label={say('routing.route.address')}
            isPlain
            isRequired
            maxLength={253}
            value={address}
            onChange={(next) => set({ address: next })}
          />
          <Field
            label={say('routing.field.port')}
            isPlain
            isRequired
            inputMode="numeric"
            value={port}
            onChange={(next) => set({ port: next })}
            {...(!isPort && { problem: say('routing.route.portWrong') })}
          />
          <Choice
            label={say('routing.rule.network')}
            value={network}
            options={NETWORKS.map((value) => ({ value, text: value }))}
            choose={(next) => {
              setNetwork(next);
              ask.reset();
            }}
          />
          <Choice
            label={say('routing.route.inbound')}
            value={inboundTag}
            options={['', ...inboundTags].map((value) => ({
              value,
              text: shownName(value) || say('routing.route.anyInbound'),
            }))}
            choose={(next) => set({ inboundTag: next })}
          />
          <Field
            label={say('routing.route.user')}
            isPlain
            maxLength={320}
            value={email}
            onChange={(next) => set({ email: next })}
          />
        </div>
        <div className="actions">
          <Button type="submit" className="button" isPending={ask.isPending}>
            {say('routing.route.ask')}
          </Button>
        </div>
      </Form>
      {state && changesOf(state).length > 0 && <p className="hint">{say('routing.route.running')}</p>}
      {ask.error && <Problem error={ask.error} />}
      <p role="status">
        {reply &&
          (reply.outboundTag === ''
            ? say('routing.route.unmatched')
            : say('routing.route.leaves', { tag: isolated(reply.outboundTag) }))}
        {reply && reply.groupTags.length > 0 && (
          <> {say('routing.route.through', { tags: reply.groupTags.map(isolated).join(', ') })}</>
        )}
      </p>
    </section>
  );
}
