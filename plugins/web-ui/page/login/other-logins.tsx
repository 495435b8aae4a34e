// Ways to log in beside the password, where the panel has some. Loaded after the form, which works without them.
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { Weir } from '../../../../sdk/index.js';
import { panelUrl } from '../api/panel.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { Refusal } from './refusal.js';

export interface OtherLoginsProps {
  readonly returnTo: string | undefined;
  /** code of the login that has just failed elsewhere */
  readonly trouble: string | undefined;
}

/** Nobody is logged in, so a call waits for no login. */
const open = new Weir({
  url: panelUrl.href,
  fetch: (input, init) => fetch(input, init),
  retries: { most: 0 },
});

type Methods = Awaited<ReturnType<typeof open.access.loginMethods>>;

export function OtherLogins({ returnTo, trouble }: OtherLoginsProps) {
  const { say } = useReader();
  const [methods, setMethods] = useState<Methods>([]);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<{ readonly error: unknown }>();
  useEffect(() => {
    // Without an answer there is still the password.
    open.access.loginMethods().then(
      (known) => setMethods(Array.isArray(known) ? known : []),
      () => undefined,
    );
  }, []);
  const openid = methods.find(({ method }) => method === 'openid');
  const leave = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { url } = await open.openid.login({ body: { returnTo: returnTo ?? '' } });
      location.assign(url);
    } catch (error) {
      setFailure({ error });
      setBusy(false);
    }
  };
  return (
    <>
      {failure ? <Problem error={failure.error} /> : <Refusal code={trouble} />}
      {openid && (
        <Button className="button" isPending={isBusy} onPress={() => void leave()}>
          {say('logins.with', { name: isolated(openid.label) })}
        </Button>
      )}
    </>
  );
}
