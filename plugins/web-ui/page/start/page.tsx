// The first minute: an inbound, a client, and its QR code. It can be left and resumed at each step.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { clientQuery } from '../api/queries.js';
import { Links } from '../clients/links.js';
import { viewOf } from '../clients/view.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { type Draft, useDraft } from '../parts/draft.js';
import { Problem } from '../parts/problem.js';
import { ClientStep } from './client-step.js';
import { InboundStep } from './inbound-step.js';
import { anyPort, blankTyped, publicHost, type Typed } from './recipes.js';
import './start.css';

export function StartPage() {
  const { say } = useReader();
  const [blank] = useState(() => blankTyped(publicHost(location.hostname), anyPort()));
  const draft = useDraft<Typed>('start', blank);
  const { inboundId, made } = draft.value;
  const step = made !== '' ? 3 : inboundId > 0 ? 2 : 1;
  return (
    <div className="page start">
      <h1>{say('start.title')}</h1>
      <p className="muted" role="status">
        {say('start.step', { step })}
      </p>
      {step === 1 && <InboundStep typed={draft.value} set={draft.set} />}
      {step === 2 && <ClientStep typed={draft.value} set={draft.set} again={() => draft.set(blank)} />}
      {step === 3 && <Done draft={draft} again={() => draft.set(blank)} />}
    </div>
  );
}

function Done({ draft, again }: { draft: Draft<Typed>; again: () => void }) {
  const { say } = useReader();
  const name = draft.value.made;
  const client = useQuery(clientQuery(name));
  return (
    <div className="stack">
      <h2>
        {say('start.done')} <bdi>{shownName(name)}</bdi>
      </h2>
      <p>{say('start.scan')}</p>
      {client.error && <Problem error={client.error} retry={() => void client.refetch()} />}
      {client.data && <Links client={client.data} />}
      <div className="actions">
        <Link
          to="/client"
          search={{ name, edit: undefined }}
          className="button main"
          onClick={() => draft.discard()}
        >
          {say('start.openClient')}
        </Link>
        <Link to="/clients" search={viewOf({})} className="button" onClick={() => draft.discard()}>
          {say('start.toClients')}
        </Link>
        <Button className="button quiet" onPress={again}>
          {say('start.again')}
        </Button>
      </div>
    </div>
  );
}
