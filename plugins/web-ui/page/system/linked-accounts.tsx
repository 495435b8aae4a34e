// Accounts of a provider with which admins log in: the own one is linked here, and each can be unlinked.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { nameIn } from '../api/session.js';
import { session, weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Refusal } from '../login/refusal.js';
import { Field } from '../parts/field.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { linksQuery, loginMethodsQuery, twoFactorQuery } from './queries.js';

const LINKED = 'linked';

/** Nothing while no provider is set up. */
export function LinkedAccounts() {
  const methods = useQuery(loginMethodsQuery).data;
  const openid = Array.isArray(methods) ? methods.find(({ method }) => method === 'openid') : undefined;
  return openid ? <Accounts provider={openid.label} /> : null;
}

function Accounts({ provider }: { provider: string }) {
  const { say, format } = useReader();
  const links = useQuery(linksQuery);
  const own = nameIn(session.state());
  const result = new URLSearchParams(location.search).get('openid') ?? undefined;
  const unlink = useMutation({
    mutationFn: (id: string) => weir.openid.links.delete({ id }),
    onSuccess: () => notify(say('logins.unlinkedNow')),
    onError: notifyTrouble,
    onSettled: () => void queries.invalidateQueries({ queryKey: ['access'] }),
  });
  const all = Array.isArray(links.data) ? links.data : [];
  const isLinked = all.some(({ username }) => username === own);
  return (
    <section className="card" aria-labelledby="linked-accounts">
      <h2 id="linked-accounts">{say('logins.accounts')}</h2>
      <p className="muted">{say('logins.about', { name: isolated(provider) })}</p>
      {result === LINKED && isLinked && <p role="status">{say('logins.linkedNow')}</p>}
      <Refusal code={result} />
      {links.error && <Problem error={links.error} retry={() => void links.refetch()} />}
      <ul className="system-list">
        {all.map(({ id, username, issuer, account, linkedAt }) => (
          <li key={id} className="card" data-link={username}>
            <div className="card-head">
              <strong>
                <bdi>{shownName(username)}</bdi> · <bdi>{shownName(account)}</bdi>
              </strong>
              <Button
                className="button risky small"
                aria-label={say('logins.unlinkOf', { name: isolated(username) })}
                isPending={unlink.isPending}
                onPress={() => unlink.mutate(id)}
              >
                {say('logins.unlink')}
              </Button>
            </div>
            <p className="said" dir="ltr">
              {shownName(issuer)}
            </p>
            <p className="muted">{say('logins.since', { time: format.moment(linkedAt) })}</p>
          </li>
        ))}
      </ul>
      {links.data && !isLinked && <LinkForm provider={provider} />}
    </section>
  );
}

function LinkForm({ provider }: { provider: string }) {
  const { say } = useReader();
  const needsCode = useQuery(twoFactorQuery).data === true;
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const link = useMutation({
    mutationFn: () =>
      weir.openid.link({ body: { password, ...(needsCode && { twoFactorCode: code.trim() }) } }),
    gcTime: 0,
    onSuccess: ({ url }) => location.assign(url),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!link.isPending) link.mutate();
  };
  return (
    <Form className="system-narrow" onSubmit={submit}>
      <Field
        label={say('system.oldPassword')}
        type="password"
        autoComplete="current-password"
        maxLength={1024}
        value={password}
        onChange={setPassword}
        isRequired
      />
      {needsCode && (
        <Field
          label={say('login.code')}
          hint={say('login.codeHint')}
          autoComplete="one-time-code"
          maxLength={16}
          value={code}
          onChange={setCode}
          isRequired
          isPlain
        />
      )}
      {link.error && <Problem error={link.error} />}
      <Button type="submit" className="button" isPending={link.isPending || link.isSuccess}>
        {say('logins.link', { name: isolated(provider) })}
      </Button>
    </Form>
  );
}
