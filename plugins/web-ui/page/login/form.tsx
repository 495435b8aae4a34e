// Name, password and, where the panel asks for it, the code of the second factor.
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import type { Login, Session } from '../api/session.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { type LoginTrouble, loginTroubleOf } from './trouble.js';

export interface LoginFormProps {
  readonly session: Pick<Session, 'logIn' | 'needsCode'>;
  /** the name that cannot be changed: of a session that ended */
  readonly name?: string;
  readonly done: () => void;
}

export function LoginForm({ session, name, done }: LoginFormProps) {
  const { say, format } = useReader();
  const [needsCode, setNeedsCode] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<LoginTrouble>();
  const summary = useRef<HTMLDivElement>(null);
  const summaryId = useId();
  useEffect(() => {
    // Without an answer the field is shown only after the panel has refused a login.
    session.needsCode().then(setNeedsCode, () => undefined);
  }, [session]);
  useEffect(() => {
    if (trouble) summary.current?.focus();
  }, [trouble]);

  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const values = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    const code = (values['code'] ?? '').trim();
    const login: Login = {
      username: name || (values['username'] ?? ''),
      password: values['password'] ?? '',
      ...(code !== '' && { twoFactorCode: code }),
    };
    setBusy(true);
    setTrouble(undefined);
    try {
      await session.logIn(login);
      done();
    } catch (error) {
      setTrouble(loginTroubleOf(error, needsCode));
      session.needsCode().then(setNeedsCode, () => undefined);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form className="login-form" method="post" onSubmit={(event) => void submit(event)}>
      {trouble && (
        <div className="problem" role="alert" ref={summary} tabIndex={-1} id={summaryId}>
          <div>
            <p>{say(trouble.text)}</p>
            {trouble.waitMs !== undefined && (
              <p>{say('trouble.wait', { time: format.duration(trouble.waitMs) })}</p>
            )}
            {trouble.code !== '' && <code dir="ltr">{trouble.code}</code>}
          </div>
        </div>
      )}
      {name ? (
        <input type="hidden" name="username" value={name} autoComplete="username" />
      ) : (
        <Field
          label={say('login.name')}
          name="username"
          autoComplete="username"
          maxLength={255}
          isRequired
          autoFocus
        />
      )}
      <Field
        label={say('login.password')}
        name="password"
        type="password"
        autoComplete="current-password"
        maxLength={1024}
        isRequired
        autoFocus={name !== undefined && name !== ''}
      />
      {needsCode && (
        <Field
          label={say('login.code')}
          hint={`${say('login.codeHint')} ${say('login.codeIfAny')}`}
          name="code"
          autoComplete="one-time-code"
          maxLength={16}
          isPlain
        />
      )}
      <Button type="submit" className="button main" isPending={isBusy}>
        {say(isBusy ? 'login.busy' : 'login.submit')}
      </Button>
    </form>
  );
}
