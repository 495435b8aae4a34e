// The login above the page when the session has ended: what was typed stays, and the calls that waited are sent again.
import { useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import { session } from '../api/panel.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Sheet } from '../parts/sheet.js';
import { LoginForm } from './form.js';
import { LaterLogins } from './later-logins.js';
import './login.css';

export function LoginSheet() {
  const { say } = useReader();
  const state = useSyncExternalStore(session.subscribe, session.state);
  const isOpen = state.kind === 'ended';
  return (
    <Sheet title={say('login.endedTitle')} isOpen={isOpen}>
      {isOpen && (
        <>
          <p>{say('login.endedText', { name: isolated(state.name) })}</p>
          <LoginForm session={session} name={state.name} done={() => undefined} />
          <LaterLogins session={session} done={() => undefined} />
          <Button className="button quiet" onPress={() => session.leave()}>
            {say('login.leave')}
          </Button>
        </>
      )}
    </Sheet>
  );
}
