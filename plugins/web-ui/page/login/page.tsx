// The login when the page is opened without a session.
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { session } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { LanguageChoice } from '../preferences/language-choice.js';
import { LoginForm } from './form.js';
import { LaterLogins } from './later-logins.js';
import './login.css';

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
      <LaterLogins session={session} done={go} leaving={{ returnTo, trouble }} />
      <LanguageChoice />
    </main>
  );
}
