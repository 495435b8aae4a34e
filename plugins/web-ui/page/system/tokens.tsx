// API tokens: made, shown once, switched off, deleted.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form, Switch } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Copy } from '../parts/copy.js';
import { Field } from '../parts/field.js';
import { notifyTrouble } from '../parts/notices.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { useIsRunning } from '../api/running.js';
import { rolesQuery } from '../roles/queries.js';
import { tokensQuery } from './queries.js';
import { endOf, scopeOf, TOKEN_DAYS, usualDays } from './token-end.js';

const readAgain = () => void queries.invalidateQueries({ queryKey: ['access', 'tokens'] });

export function Tokens() {
  const { say, format } = useReader();
  const tokens = useQuery(tokensQuery);
  const { shown, more } = usePortion(tokens.data ?? []);
  const roles = useRoles();
  const [isMaking, setMaking] = useState(false);
  const [removed, setRemoved] = useState<{ id: number; name: string }>();
  const toggle = useMutation({
    mutationFn: ({ id, enabled }: { id: number; enabled: boolean }) =>
      weir.settings.apiTokens.setEnabled({ id, body: { enabled } }),
    onError: notifyTrouble,
    onSettled: readAgain,
  });
  const remove = useMutation({
    mutationFn: (id: number) => weir.settings.apiTokens.delete({ id }),
    onSuccess: () => setRemoved(undefined),
    onSettled: readAgain,
  });
  return (
    <section className="card" aria-labelledby="tokens">
      <div className="card-head">
        <h2 id="tokens">{say('system.tokens')}</h2>
        <Button className="button main" onPress={() => setMaking(true)}>
          {say('system.newToken')}
        </Button>
      </div>
      {tokens.error && <Problem error={tokens.error} retry={() => void tokens.refetch()} />}
      {tokens.isPending && <p className="muted">{say('loading')}</p>}
      {tokens.data?.length === 0 && <p className="muted">{say('system.noTokens')}</p>}
      <ul className="system-list">
        {shown.map(({ id, name, enabled, expiresAt, lastUsedAt, kind, role }) => (
          <li key={id} className="card" data-token={id}>
            <div className="card-head">
              <strong>
                <bdi>{shownName(name)}</bdi>
              </strong>
              <Switch
                className="switch"
                isSelected={enabled}
                onChange={(on) => toggle.mutate({ id, enabled: on })}
                aria-label={say('switch.label', { name: isolated(name) })}
              >
                <span className="switch-track" aria-hidden />
              </Switch>
            </div>
            <p className="muted">
              {role === 0
                ? say(kind === '' ? 'system.scopeAdmin' : 'system.scopeNode')
                : say('roles.scope', {
                    name: isolated(roles.find(({ id }) => id === role)?.name ?? `#${role}`),
                  })}{' '}
              ·{' '}
              {expiresAt === 0 ? say('system.noEnd') : say('system.ends', { time: format.moment(expiresAt) })}
            </p>
            <p className="muted">
              {lastUsedAt === 0
                ? say('system.unused')
                : say('system.used', { time: format.moment(lastUsedAt * 1000) })}
            </p>
            <div className="actions">
              <Button
                className="button risky small"
                aria-label={say('system.removeOf', { name: isolated(name) })}
                onPress={() => setRemoved({ id, name })}
              >
                {say('remove')}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {more}
      <Sheet title={say('system.newToken')} isOpen={isMaking} close={() => setMaking(false)}>
        {isMaking && <NewToken close={() => setMaking(false)} />}
      </Sheet>
      <Sheet
        title={say('system.removeOf', { name: isolated(removed?.name ?? '') })}
        isOpen={removed !== undefined}
        close={() => setRemoved(undefined)}
        role="alertdialog"
      >
        <p>{say('system.removeCost')}</p>
        {remove.error && <Problem error={remove.error} />}
        <div className="actions end">
          <Button className="button" onPress={() => setRemoved(undefined)}>
            {say('cancel')}
          </Button>
          <Button
            className="button risky"
            isPending={remove.isPending}
            onPress={() => removed && remove.mutate(removed.id)}
          >
            {say('remove')}
          </Button>
        </div>
      </Sheet>
    </section>
  );
}

/** The roles that limit tokens; none for an admin who may not see them. */
function useRoles() {
  const isRunning = useIsRunning();
  return useQuery({ ...rolesQuery, enabled: isRunning('roles') }).data ?? [];
}

function NewToken({ close }: { close: () => void }) {
  const { say, format } = useReader();
  const [name, setName] = useState('');
  const roles = useRoles();
  /** blank, `node`, or the id of a role */
  const [scope, setScope] = useState('');
  const [typedDays, setDays] = useState<string>();
  const days = typedDays ?? usualDays(scope);
  const make = useMutation({
    mutationFn: () =>
      weir.settings.apiTokens.create({
        body: { name: name.trim(), expiresAt: endOf(days, Date.now()), ...scopeOf(scope) },
      }),
    // The text of the token is in this dialog only, not in what the page remembers.
    gcTime: 0,
    onSuccess: readAgain,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!make.isPending) make.mutate();
  };
  if (make.data)
    return (
      <div className="stack">
        <p>{say('system.tokenOnce')}</p>
        <Copy text={make.data.token} label={say('system.token')} />
        <div className="actions end">
          <Button className="button main" onPress={close}>
            {say('system.tokenKept')}
          </Button>
        </div>
      </div>
    );
  const issues = make.error instanceof PanelFailure ? make.error.issues : [];
  const problem = saidAt(issues.find(({ path }) => path === 'name'));
  return (
    <Form className="stack" onSubmit={submit}>
      <Field
        label={say('system.tokenName')}
        value={name}
        onChange={setName}
        maxLength={64}
        isRequired
        autoFocus
        {...(problem !== undefined && { problem })}
      />
      <Choice
        label={say('system.scope')}
        value={scope}
        options={[
          { value: '', text: say('system.scopeAdmin') },
          { value: 'node', text: say('system.scopeNode') },
          ...roles.map((role) => ({
            value: String(role.id),
            text: say('roles.scope', { name: isolated(role.name) }),
          })),
        ]}
        choose={setScope}
      />
      <Choice
        label={say('system.end')}
        value={days}
        options={[
          ...TOKEN_DAYS.map((count) => ({
            value: String(count),
            text: format.duration(count * 24 * 3_600_000),
          })),
          { value: '', text: say('system.noEnd') },
        ]}
        choose={setDays}
      />
      {make.error && problem === undefined && <Problem error={make.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={make.isPending}>
          {say('new.submit')}
        </Button>
      </div>
    </Form>
  );
}
