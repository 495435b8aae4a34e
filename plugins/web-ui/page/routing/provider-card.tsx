// The account at NordVPN, and outbounds through its servers.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { ConfirmSheet } from './confirm-sheet.js';
import { listsChanged } from './queries.js';
import { TunnelOutbounds } from './tunnel-outbounds.js';
import { accountQuery, countriesQuery, serversQuery } from './tunnel-queries.js';

export function ProviderCard() {
  const { say } = useReader();
  const account = useQuery(accountQuery);
  const [isDeleting, setDeleting] = useState(false);
  if (account.data === null) return null;
  return (
    <section className="card" aria-labelledby="provider">
      <h3 id="provider">NordVPN</h3>
      {account.error && <Problem error={account.error} retry={() => void account.refetch()} />}
      {account.isPending && <p role="status">{say('loading')}</p>}
      {account.data === false && <Credentials />}
      <TunnelOutbounds isOurs={(tag) => tag.startsWith('nord-')} />
      {account.data && (
        <>
          <NewServer />
          <div className="actions">
            <Button className="button" onPress={() => setDeleting(true)}>
              {say('routing.provider.delete')}
            </Button>
          </div>
        </>
      )}
      <ConfirmSheet
        title={say('routing.provider.deleteAsk')}
        isOpen={isDeleting}
        close={() => setDeleting(false)}
        run={async () => {
          await weir.engine.vpnprovider({ action: 'del' });
          await listsChanged();
          notify(say('routing.provider.deleted'));
        }}
      >
        {say('routing.provider.deleteCost')}
      </ConfirmSheet>
    </section>
  );
}

const WAYS = ['token', 'key'] as const;

function Credentials() {
  const { say } = useReader();
  const [way, setWay] = useState<(typeof WAYS)[number]>('token');
  const [typed, setTyped] = useState('');
  const save = useMutation({
    mutationFn: (secret: string) =>
      way === 'token'
        ? weir.engine.vpnprovider({ action: 'reg', body: { token: secret } })
        : weir.engine.vpnprovider({ action: 'setKey', body: { key: secret } }),
    onSuccess: async () => {
      setTyped('');
      notify(say('routing.provider.saved'));
      await listsChanged();
    },
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!save.isPending) save.mutate(typed.trim());
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <p className="hint">{say('routing.provider.is')}</p>
      <div className="routing-inline">
        <Choice
          label={say('routing.provider.way')}
          value={way}
          options={WAYS.map((value) => ({ value, text: say(`routing.provider.way.${value}`) }))}
          choose={(next) => {
            setWay(next);
            save.reset();
          }}
        />
        <Field
          label={say(`routing.provider.way.${way}`)}
          isPlain
          isRequired
          type="password"
          autoComplete="off"
          maxLength={512}
          value={typed}
          onChange={setTyped}
          {...(issues[0] && { problem: issues[0].message })}
        />
        <Button
          type="submit"
          className="button main"
          isPending={save.isPending}
          isDisabled={typed.trim() === ''}
        >
          {say('save')}
        </Button>
      </div>
      {save.error && issues.length === 0 && <Problem error={save.error} />}
    </Form>
  );
}

function NewServer() {
  const { say, format } = useReader();
  const countries = useQuery(countriesQuery);
  const [countryId, setCountryId] = useState(0);
  const [chosen, setChosen] = useState('');
  const servers = useQuery(serversQuery(countryId));
  const hostname = servers.data?.some((server) => server.hostname === chosen)
    ? chosen
    : (servers.data?.[0]?.hostname ?? '');
  const apply = useMutation({
    mutationFn: () => weir.vpnprovider.apply({ body: { hostname, countryId } }),
    onSuccess: async ({ tag }) => {
      notify(say('routing.provider.applied', { tag: isolated(tag) }));
      await listsChanged();
    },
  });
  const error = countries.error ?? servers.error ?? apply.error;
  return (
    <>
      <div className="routing-inline">
        <Choice
          label={say('routing.provider.country')}
          value={String(countryId)}
          options={[
            { value: '0', text: say('forms.unset') },
            ...(countries.data ?? []).map(({ id, name }) => ({ value: String(id), text: shownName(name) })),
          ]}
          choose={(id) => setCountryId(Number(id))}
        />
        <Choice
          label={say('routing.provider.server')}
          value={hostname}
          options={(servers.data ?? []).map((server) => ({
            value: server.hostname,
            text: say('routing.provider.load', {
              name: shownName(server.hostname),
              load: format.number(server.load),
            }),
          }))}
          choose={setChosen}
        />
        <Button
          className="button main"
          isPending={apply.isPending}
          isDisabled={hostname === ''}
          onPress={() => !apply.isPending && apply.mutate()}
        >
          {say('routing.tunnel.apply')}
        </Button>
      </div>
      {servers.isFetching && <p role="status">{say('loading')}</p>}
      {error && <Problem error={error} />}
      <p className="hint">{say('routing.tunnel.atOnce')}</p>
    </>
  );
}
