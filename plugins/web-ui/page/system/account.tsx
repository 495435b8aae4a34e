// Name and password of the admin.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { session, weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { sessionsQuery, twoFactorQuery } from './queries.js';

type Values = Readonly<Record<'name' | 'old' | 'fresh' | 'code', string>>;

/** Field of the form by that of the API. */
const PATHS: Readonly<Record<keyof Values, string>> = {
  name: 'newUsername',
  old: 'oldPassword',
  fresh: 'newPassword',
  code: 'twoFactorCode',
};

export function Account() {
  const { say } = useReader();
  const sessions = useQuery(sessionsQuery);
  const needsCode = useQuery(twoFactorQuery).data ?? false;
  const own = sessions.data?.find(({ current }) => current)?.username;
  const [typed, setTyped] = useState<Partial<Values>>({});
  const values: Values = { name: own ?? '', old: '', fresh: '', code: '', ...typed };
  const save = useMutation({
    mutationFn: () =>
      session.renaming(values.name.trim(), () =>
        weir.settings.updateUser({
          body: {
            oldUsername: own ?? '',
            oldPassword: values.old,
            newUsername: values.name.trim(),
            newPassword: values.fresh,
            ...(needsCode && { twoFactorCode: values.code.trim() }),
          },
        }),
      ),
    gcTime: 0,
    onSuccess: () => {
      notify(say('edit.done'));
      setTyped({});
      void queries.invalidateQueries({ queryKey: ['access'] });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (own !== undefined && !save.isPending) save.mutate();
  };
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const field = (name: keyof Values) => {
    const problem = saidAt(issues.find(({ path }) => path === PATHS[name]));
    return {
      value: values[name],
      onChange: (value: string) => setTyped((now) => ({ ...now, [name]: value })),
      isRequired: true,
      ...(problem !== undefined && { problem }),
    };
  };
  const isAtField = issues.some(({ path }) => Object.values(PATHS).includes(path));
  return (
    <section className="card" aria-labelledby="account">
      <h2 id="account">{say('system.account')}</h2>
      <Form className="system-narrow" onSubmit={submit}>
        <Field {...field('name')} label={say('login.name')} autoComplete="username" maxLength={255} />
        <Field
          {...field('old')}
          label={say('system.oldPassword')}
          type="password"
          autoComplete="current-password"
          maxLength={1024}
        />
        <Field
          {...field('fresh')}
          label={say('system.newPassword')}
          hint={say('system.newPasswordHint')}
          type="password"
          autoComplete="new-password"
          minLength={8}
          maxLength={1024}
        />
        {needsCode && (
          <Field
            {...field('code')}
            label={say('login.code')}
            hint={say('login.codeHint')}
            autoComplete="one-time-code"
            maxLength={16}
            isPlain
          />
        )}
        {save.error && !isAtField && <Problem error={save.error} />}
        <p className="hint">{say('system.accountCost')}</p>
        <Button type="submit" className="button main" isPending={save.isPending}>
          {say('save')}
        </Button>
      </Form>
    </section>
  );
}
