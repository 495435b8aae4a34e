// One client on the own pages: how it is, its links, and what can be done with it.
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { useOwnKind } from '../api/rights.js';
import { Ends } from '../clients/cells.js';
import { linkName } from '../clients/link-name.js';
import { stateOf } from '../clients/state.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Copy } from '../parts/copy.js';
import { Meter } from '../parts/meter.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { QrCode } from '../parts/qr-code.js';
import { Sheet } from '../parts/sheet.js';
import { type OwnClient, ownCalls } from './calls.js';
import { OwnClientForm } from './client-form.js';
import { ownClientQuery, readOwnAgain, useOwnTerms } from './queries.js';
import '../clients/clients.css';

const route = getRouteApi('/admin/own-client');
const DAYS = [7, 30, 90] as const;

export function OwnClientPage() {
  const { say } = useReader();
  const { id } = route.useSearch();
  const client = useQuery(ownClientQuery(useOwnKind(), id));
  const terms = useOwnTerms();
  return (
    <div className="page stack">
      <Link to="/own-clients" search={{}} className="back">
        <ChevronLeft size={16} aria-hidden />
        {say('clients.title')}
      </Link>
      {client.error && <Problem error={client.error} retry={() => void client.refetch()} />}
      {client.isPending && <p className="muted">{say('loading')}</p>}
      {client.data && (
        <>
          <h1>
            <bdi>{shownName(client.data.email)}</bdi>
          </h1>
          {terms?.mayWrite && <Acts client={client.data} mayReset={terms.mayReset} />}
          <Facts client={client.data} />
          <OwnLinks client={client.data} />
        </>
      )}
    </div>
  );
}

function Acts({ client, mayReset }: { client: OwnClient; mayReset: boolean }) {
  const { say } = useReader();
  const { id, email, enable } = client;
  const kind = useOwnKind();
  const calls = ownCalls(kind);
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const act = useMutation({
    mutationFn: ({ run }: { run: () => Promise<unknown>; done: string }) => run(),
    onSuccess: (_, { done }) => notify(done),
    onError: notifyTrouble,
    onSettled: readOwnAgain,
  });
  const remove = useMutation({
    mutationFn: () => calls.remove(id),
    onSuccess: async () => {
      notify(say('delete.done', { name: isolated(email) }));
      await navigate({ to: '/own-clients', search: {} });
      void readOwnAgain();
    },
  });
  return (
    <div className="actions">
      {client.expiryTime !== 0 &&
        DAYS.map((days) => (
          <Button
            key={days}
            className="button"
            isDisabled={act.isPending}
            onPress={() => act.mutate({ run: () => calls.renew(id, days), done: say('extend.done') })}
          >
            {say('extend.days', { count: days })}
          </Button>
        ))}
      {mayReset && (
        <Button
          className="button"
          isDisabled={act.isPending}
          onPress={() => act.mutate({ run: () => calls.reset(id), done: say('reset.done') })}
        >
          {say('reset.title')}
        </Button>
      )}
      <Button
        className="button"
        isDisabled={act.isPending}
        onPress={() => act.mutate({ run: () => calls.turn(id, !enable), done: say('edit.done') })}
      >
        {say(enable ? 'resellers.turnOff' : 'resellers.turnOn')}
      </Button>
      <Button className="button" onPress={() => setEditing(true)}>
        {say('edit')}
      </Button>
      <Button className="button risky" onPress={() => setDeleting(true)}>
        {say('delete.title')}
      </Button>
      <Sheet title={say('edit')} isOpen={isEditing} close={() => setEditing(false)}>
        {isEditing && <OwnClientForm client={client} close={() => setEditing(false)} />}
      </Sheet>
      <Sheet
        title={say('delete.ask')}
        isOpen={isDeleting}
        close={() => setDeleting(false)}
        role="alertdialog"
      >
        <p>{say(kind === 'groups' ? 'delete.cost' : 'resellers.deleteCost', { name: isolated(email) })}</p>
        {remove.error && <Problem error={remove.error} />}
        <div className="actions end">
          <Button className="button" onPress={() => setDeleting(false)}>
            {say('cancel')}
          </Button>
          <Button className="button risky" isPending={remove.isPending} onPress={() => remove.mutate()}>
            {say('delete.title')}
          </Button>
        </div>
      </Sheet>
    </div>
  );
}

function Facts({ client }: { client: OwnClient }) {
  const { say, format } = useReader();
  const { totalGB, up, down, expiryTime, lastOnline, comment, group = '' } = client;
  const now = Date.now();
  const used = format.bytes(up + down);
  const state = stateOf({ ...client, traffic: client as never }, now);
  return (
    <section className="card" aria-labelledby="limits">
      <h2 id="limits">{say('limits.title')}</h2>
      {totalGB > 0 && <Meter share={(up + down) / totalGB} label={say('column.usage')} />}
      <dl className="facts">
        <dt>{say('column.state')}</dt>
        <dd>{say(`state.${state}`)}</dd>
        <dt>{say('column.usage')}</dt>
        <dd>{totalGB > 0 ? say('usage.of', { used, all: format.bytes(totalGB) }) : used}</dd>
        <dt>{say('column.ends')}</dt>
        <dd>
          <Ends expiryTime={expiryTime} now={now} />
          {expiryTime > 0 && <span className="muted"> · {format.moment(expiryTime)}</span>}
        </dd>
        <dt>{say('column.seen')}</dt>
        <dd>{lastOnline > 0 ? format.moment(lastOnline) : say('seen.never')}</dd>
        {group !== '' && (
          <>
            <dt>{say('field.group')}</dt>
            <dd>
              <bdi>{shownName(group)}</bdi>
            </dd>
          </>
        )}
        {comment !== '' && (
          <>
            <dt>{say('field.comment')}</dt>
            <dd dir="auto" className="long">
              {comment}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function OwnLinks({ client: { links, subscription } }: { client: OwnClient }) {
  const { say } = useReader();
  const [chosen, setChosen] = useState('');
  const given = [
    ...(subscription === '' ? [] : [{ value: subscription, text: say('links.subscription') }]),
    ...links.map((value, index) => ({
      value,
      text: linkName(value) || say('links.number', { number: index + 1 }),
    })),
  ];
  const current = given.find(({ value }) => value === chosen) ?? given[0];
  return (
    <section className="card links" aria-labelledby="links">
      <h2 id="links">{say('links.title')}</h2>
      {!current && <p className="muted">{say('links.none')}</p>}
      {current && (
        <>
          {given.length > 1 && (
            <Choice label={say('links.which')} value={current.value} options={given} choose={setChosen} />
          )}
          <div className="link">
            <QrCode text={current.value} label={say('links.qrOf', { name: current.text })} />
            <Copy text={current.value} label={current.text} />
          </div>
        </>
      )}
    </section>
  );
}
