// The login with a passkey, where an admin has one.
import { useState } from 'react';
import { Button } from 'react-aria-components';
import type { Session } from '../api/session.js';
import { useReader } from '../language/context.js';
import { answerLogin, impossible } from '../passkeys/device.js';
import { PasskeyTrouble } from '../passkeys/trouble.js';

export interface PasskeyLoginProps {
  readonly session: Pick<Session, 'logInBy'>;
  readonly done: () => void;
}

export function PasskeyLogin({ session, done }: PasskeyLoginProps) {
  const { say } = useReader();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<{ readonly error: unknown }>();
  const enter = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await session.logInBy(async ({ passkeys }) => {
        const answer = await answerLogin(await passkeys.loginOptions());
        return (await passkeys.login({ body: { answer: answer as never } })).username;
      });
      done();
    } catch (error) {
      setFailure({ error });
    } finally {
      setBusy(false);
    }
  };
  const reason = impossible();
  if (reason !== undefined) return <p className="hint">{say(reason)}</p>;
  return (
    <>
      {failure && <PasskeyTrouble error={failure.error} />}
      <Button className="button" isPending={isBusy} onPress={() => void enter()}>
        {say('passkeys.logIn')}
      </Button>
    </>
  );
}
