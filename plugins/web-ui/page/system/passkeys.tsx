// The passkeys of the admin whose page it is: added, renamed, removed.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isAbsent, saidAt } from '../api/trouble.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { impossible, makePasskey } from '../passkeys/device.js';
import { PasskeyTrouble } from '../passkeys/trouble.js';
import { ItemActions } from '../roles/item-actions.js';
import { RemoveSheet } from '../roles/remove-sheet.js';
import { passkeysQuery, twoFactorQuery } from './queries.js';

interface Key {
  readonly id: number;
  readonly name: string;
}
const readAgain = (): void => void queries.invalidateQueries({ queryKey: ['access'] });

export function Passkeys() {
  const { say, format } = useReader();
  const keys = useQuery(passkeysQuery);
  const [edited, setEdited] = useState<Key | 'new'>();
  const [removed, setRemoved] = useState<Key>();
  if (isAbsent(keys.error)) return null;
  const close = () => setEdited(undefined);
  const reason = impossible();
  return (
    <section className="card" aria-labelledby="passkeys">
      <div className="card-head">
        <h2 id="passkeys">{say('passkeys.title')}</h2>
        {reason === undefined && (
          <Button className="button main" onPress={() => setEdited('new')}>
            {say('passkeys.add')}
          </Button>
        )}
      </div>
      <p className="muted">{say('passkeys.about')}</p>
      {reason !== undefined && <p className="hint">{say(reason)}</p>}
      {keys.error && <Problem error={keys.error} retry={() => void keys.refetch()} />}
      {keys.isPending && <p className="muted">{say('loading')}</p>}
      {keys.data?.length === 0 && <p>{say('passkeys.none')}</p>}
      <ul className="system-list">
        {keys.data?.map((key) => (
          <li key={key.id} className="card" data-passkey={key.name}>
            <strong>
              <bdi>{shownName(key.name)}</bdi>
            </strong>
            {key.origin !== location.origin && (
              <p className="said" dir="ltr">
                {shownName(key.origin)}
              </p>
            )}
            <p className="muted">
              {say('roles.since', { time: format.moment(key.createdAt) })} ·{' '}
              {key.lastUsedAt === 0
                ? say('system.unused')
                : say('system.used', { time: format.moment(key.lastUsedAt) })}
            </p>
            <ItemActions name={key.name} edit={() => setEdited(key)} remove={() => setRemoved(key)} />
          </li>
        ))}
      </ul>
      <Sheet
        title={
          edited === undefined || edited === 'new'
            ? say('passkeys.add')
            : say('roles.editOf', { name: isolated(edited.name) })
        }
        isOpen={edited !== undefined}
        close={close}
      >
        {edited === 'new' && <NewPasskey close={close} />}
        {edited !== undefined && edited !== 'new' && <Rename passkey={edited} close={close} />}
      </Sheet>
      <RemoveSheet
        name={removed?.name}
        cost={say('passkeys.removeCost')}
        remove={() => (removed ? weir.passkeys.delete({ id: removed.id }) : Promise.resolve())}
        close={() => setRemoved(undefined)}
      />
    </section>
  );
}

/** The problem of a field, for `Field`. */
const problemAt = (error: unknown, path: string): { readonly problem?: string } => {
  const issues = error instanceof PanelFailure ? error.issues : [];
  const problem = saidAt(issues.find((issue) => issue.path === path));
  return problem === undefined ? {} : { problem };
};

function NewPasskey({ close }: { close: () => void }) {
  const { say } = useReader();
  const needsCode = useQuery(twoFactorQuery).data ?? false;
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const add = useMutation({
    mutationFn: async () => {
      const twoFactorCode = code.trim();
      const proof = { password, ...(needsCode && { twoFactorCode }) };
      const answer = await makePasskey(await weir.passkeys.registerOptions({ body: proof }));
      await weir.passkeys.register({ body: { name: name.trim(), answer: answer as never } });
    },
    gcTime: 0,
    onSuccess: () => {
      notify(say('edit.done'));
      close();
    },
    onSettled: readAgain,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!add.isPending) add.mutate();
  };
  const problems = {
    name: problemAt(add.error, 'name'),
    password: problemAt(add.error, 'password'),
    code: problemAt(add.error, 'twoFactorCode'),
  };
  const isAtField = Object.values(problems).some(({ problem }) => problem !== undefined);
  return (
    <Form className="stack" onSubmit={submit}>
      <p>{say('passkeys.addHint')}</p>
      <Field
        label={say('system.tokenName')}
        value={name}
        onChange={setName}
        maxLength={64}
        isRequired
        autoFocus
        {...problems.name}
      />
      <Field
        label={say('login.password')}
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        maxLength={1024}
        isRequired
        {...problems.password}
      />
      {needsCode && (
        <Field
          label={say('login.code')}
          hint={say('login.codeHint')}
          value={code}
          onChange={setCode}
          autoComplete="one-time-code"
          maxLength={16}
          isRequired
          isPlain
          {...problems.code}
        />
      )}
      {add.error && !isAtField && <PasskeyTrouble error={add.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={add.isPending}>
          {say('passkeys.add')}
        </Button>
      </div>
    </Form>
  );
}

function Rename({ passkey, close }: { passkey: Key; close: () => void }) {
  const { say } = useReader();
  const [name, setName] = useState(passkey.name);
  const save = useMutation({
    mutationFn: () => weir.passkeys.rename({ id: passkey.id, body: { name: name.trim() } }),
    onSuccess: close,
    onSettled: readAgain,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  const problem = problemAt(save.error, 'name');
  return (
    <Form className="stack" onSubmit={submit}>
      <Field
        label={say('system.tokenName')}
        value={name}
        onChange={setName}
        maxLength={64}
        isRequired
        autoFocus
        {...problem}
      />
      {save.error && problem.problem === undefined && <Problem error={save.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={save.isPending}>
          {say('save')}
        </Button>
      </div>
    </Form>
  );
}
