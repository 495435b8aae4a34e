// The clients of a reseller, or those of the groups of an admin.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import type { ResellerClientsReply } from '../../../../sdk/index.js';
import { useOwnKind } from '../api/rights.js';
import { Ends } from '../clients/cells.js';
import { levelOf, stateOf } from '../clients/state.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { OwnClientForm } from './client-form.js';
import { OwnFigures } from './figures.js';
import { OwnGroups } from './groups.js';
import { ownClientsQuery, PAGE_SIZE, useOwnTerms } from './queries.js';
import { OWN_STATUSES, type OwnStatus, type OwnView } from './view.js';
import '../clients/clients.css';

const route = getRouteApi('/admin/own-clients');

export function OwnClientsPage() {
  const { say } = useReader();
  const view = route.useSearch();
  const navigate = useNavigate();
  const kind = useOwnKind();
  const clients = useQuery(ownClientsQuery(kind, view));
  const terms = useOwnTerms();
  const [isAdding, setAdding] = useState(false);
  const show = (next: OwnView, replace = false) =>
    void navigate({ to: '/own-clients', search: next, replace });
  const { page = 1 } = view;
  const filtered = clients.data?.filtered ?? 0;
  return (
    <div className="page stack">
      <div className="page-head">
        <h1>{say('clients.title')}</h1>
        {(kind !== 'groups' || terms?.mayWrite) && (
          <Button className="button main" onPress={() => setAdding(true)}>
            <Plus size={20} aria-hidden />
            {say('clients.new')}
          </Button>
        )}
      </div>
      {kind === 'groups' ? <OwnGroups /> : <OwnFigures />}
      <search className="filters" aria-label={say('filter.label')}>
        <Field
          label={say('filter.search')}
          value={view.search ?? ''}
          maxLength={255}
          onChange={(search) => show({ ...view, page: undefined, search: search || undefined }, true)}
        />
        <Choice
          label={say('filter.status')}
          value={(view.status ?? '') as OwnStatus | ''}
          options={[
            { value: '', text: say('filter.all') },
            ...OWN_STATUSES.map((value) => ({ value, text: say(`status.${value}`) })),
          ]}
          choose={(status) => show({ ...view, page: undefined, status: status || undefined })}
        />
      </search>
      {clients.error && <Problem error={clients.error} retry={() => void clients.refetch()} />}
      <p className="muted" role="status">
        {clients.data
          ? say('clients.count', { shown: filtered, all: clients.data.counts.total })
          : say('loading')}
      </p>
      <ul className="system-list">
        {clients.data?.items.map((client) => (
          <OwnClientLine key={client.id} client={client} />
        ))}
      </ul>
      {(page > 1 || filtered > PAGE_SIZE) && (
        <div className="actions">
          <Button className="button" isDisabled={page <= 1} onPress={() => show({ ...view, page: page - 1 })}>
            {say('resellers.previous')}
          </Button>
          <Button
            className="button"
            isDisabled={page * PAGE_SIZE >= filtered}
            onPress={() => show({ ...view, page: page + 1 })}
          >
            {say('resellers.next')}
          </Button>
        </div>
      )}
      <Sheet title={say('new.title')} isOpen={isAdding} close={() => setAdding(false)}>
        {isAdding && (
          <OwnClientForm
            client={undefined}
            close={() => setAdding(false)}
            created={(id) => void navigate({ to: '/own-client', search: { id } })}
          />
        )}
      </Sheet>
    </div>
  );
}

function OwnClientLine({ client }: { client: ResellerClientsReply['items'][number] }) {
  const { say, format } = useReader();
  const { id, email, totalGB, up, down, expiryTime } = client;
  const now = Date.now();
  const state = stateOf({ ...client, traffic: { ...client, id } as never }, now);
  const used = format.bytes(up + down);
  return (
    <li className="card" data-client={email}>
      <div className="card-head">
        <Link to="/own-client" search={{ id }}>
          <bdi>{shownName(email)}</bdi>
        </Link>
        <span className="tag" data-level={levelOf(state)}>
          {say(`state.${state}`)}
        </span>
      </div>
      <p className="muted">
        {totalGB > 0 ? say('usage.of', { used, all: format.bytes(totalGB) }) : used} ·{' '}
        <Ends expiryTime={expiryTime} now={now} />
      </p>
    </li>
  );
}
