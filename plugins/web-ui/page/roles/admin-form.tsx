// A new admin, or another role or password of one.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { readAgain } from './queries.js';

export interface ShownAdmin {
  readonly id: number;
  readonly username: string;
  readonly role: number;
}
export interface AdminFormProps {
  readonly admin: ShownAdmin | 'new';
  readonly roles: readonly { readonly id: number; readonly name: string }[];
  readonly close: () => void;
}

export function AdminForm({ admin, roles, close }: AdminFormProps) {
  const { say } = useReader();
  const isNew = admin === 'new';
  const [username, setUsername] = useState(isNew ? '' : admin.username);
  const [password, setPassword] = useState('');
  const [role, setRole] = useState(isNew ? '0' : String(admin.role));
  const save = useMutation({
    mutationFn: async () => {
      const body = { role: Number(role), ...(password !== '' && { password }) };
      if (isNew) await weir.admins.add({ body: { ...body, username: username.trim(), password } });
      else await weir.admins.update({ id: admin.id, body });
    },
    onSuccess: close,
    onSettled: readAgain,
  });
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problemOf = (field: string) => {
    const problem = issues.find(({ path }) => path === field)?.message;
    return problem === undefined ? {} : { problem };
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  return (
    <Form className="stack" onSubmit={submit}>
      {isNew && (
        <Field
          label={say('login.name')}
          value={username}
          onChange={setUsername}
          maxLength={255}
          isRequired
          autoFocus
          autoComplete="off"
          {...problemOf('username')}
        />
      )}
      <Field
        label={say('login.password')}
        type="password"
        value={password}
        onChange={setPassword}
        isRequired={isNew}
        autoComplete="new-password"
        isPlain
        {...(!isNew && { hint: say('roles.passwordHint') })}
        {...problemOf('password')}
      />
      <Choice
        label={say('roles.role')}
        value={role}
        options={[
          { value: '0', text: say('roles.full') },
          ...roles.map(({ id, name }) => ({ value: String(id), text: isolated(name) })),
        ]}
        choose={setRole}
        {...problemOf('role')}
      />
      {save.error && !issues.some(({ path }) => ['username', 'password', 'role'].includes(path)) && (
        <Problem error={save.error} />
      )}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button type="submit" className="button main" isPending={save.isPending}>
          {isNew ? say('new.submit') : say('save')}
        </Button>
      </div>
    </Form>
  );
}
