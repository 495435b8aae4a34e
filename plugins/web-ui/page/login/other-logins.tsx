// Ways to log in beside the password, where the panel has some. Loaded after the form, which works without them.
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import type { Weir } from '../../../../sdk/index.js';
import type { Session } from '../api/session.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { PasskeyLogin } from './passkey-login.js';
import { Refusal } from './refusal.js';

/** What a login elsewhere needs, which leaves the page. */
export interface Leaving {
  readonly returnTo: string | undefined;
  /** code of the login that has just failed there */
  readonly trouble: string | undefined;
}
export interface OtherLoginsProps {
  readonly session: Pick<Session, 'anonymously' | 'logInBy'>;
  readonly done: () => void;
  /** Without it there are only the ways that stay on this page. */
  readonly leaving?: Leaving;
}

type Methods = Awaited<ReturnType<Weir['access']['loginMethods']>>;

export function OtherLogins({ session, done, leaving }: OtherLoginsProps) {
  const [methods, setMethods] = useState<Methods>([]);
  useEffect(() => {
    // Without an answer there is still the password.
    session
      .anonymously((open) => open.access.loginMethods())
      .then(
        (known) => setMethods(Array.isArray(known) ? known : []),
        () => undefined,
      );
  }, [session]);
  const openid = methods.find(({ method }) => method === 'openid');
  return (
    <>
      {methods.some(({ method }) => method === 'passkey') && <PasskeyLogin session={session} done={done} />}
      {leaving && <LoginElsewhere session={session} name={openid?.label} {...leaving} />}
    </>
  );
}

interface LoginElsewhereProps extends Leaving {
  readonly session: Pick<Session, 'anonymously'>;
  /** of the provider; undefined where there is none */
  readonly name: string | undefined;
}

function LoginElsewhere({ session, name, returnTo, trouble }: LoginElsewhereProps) {
  const { say } = useReader();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<{ readonly error: unknown }>();
  const leave = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { url } = await session.anonymously((open) =>
        open.openid.login({ body: { returnTo: returnTo ?? '' } }),
      );
      location.assign(url);
    } catch (error) {
      setFailure({ error });
      setBusy(false);
    }
  };
  return (
    <>
      {failure ? <Problem error={failure.error} /> : <Refusal code={trouble} />}
      {name !== undefined && (
        <Button className="button" isPending={isBusy} onPress={() => void leave()}>
          {say('logins.with', { name: isolated(name) })}
        </Button>
      )}
    </>
  );
}
