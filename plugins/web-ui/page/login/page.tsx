// The login when the page is opened without a session.
import { useRouter, useSearch } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { session } from '../api/panel.js';
import { spoken, useReader } from '../language/context.js';
import { LanguageChoice } from '../preferences/language-choice.js';
import { LoginForm } from './form.js';
import type { OtherLoginsProps } from './other-logins.js';
import './login.css';

const OtherLogins = lazy(async (): Promise<{ default: ComponentType<OtherLoginsProps> }> => {
  try {
    const [{ OtherLogins: part }] = await Promise.all([import('./other-logins.js'), spoken.whole()]);
    return { default: part };
  } catch {
    // There is still the password.
    return { default: () => null };
  }
});

export function LoginPage() {
  const { say } = useReader();
  const router = useRouter();
  const { returnTo, trouble } = useSearch({ from: '/login' });
  const go = () => router.history.replace(`${router.basepath.replace(/\/$/, '')}${returnTo ?? '/'}`);
  useEffect(() => {
    if (session.state().kind === 'in') go();
  });
  return (
    <main className="login">
      <h1>{say('login.title')}</h1>
      <LoginForm session={session} done={go} />
      <Suspense>
        <OtherLogins returnTo={returnTo} trouble={trouble} />
      </Suspense>
      <LanguageChoice />
    </main>
  );
}
