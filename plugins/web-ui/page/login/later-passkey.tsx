// Brings the login with a passkey after the form: without it there is still the password.
import { type ComponentType, lazy, Suspense } from 'react';
import { spoken } from '../language/context.js';
import type { PasskeyLoginProps } from './passkey-login.js';

const Part = lazy(async (): Promise<{ default: ComponentType<PasskeyLoginProps> }> => {
  try {
    const [{ PasskeyLogin }] = await Promise.all([import('./passkey-login.js'), spoken.whole()]);
    return { default: PasskeyLogin };
  } catch {
    return { default: () => null };
  }
});

export const LaterPasskey = (props: PasskeyLoginProps) => (
  <Suspense>
    <Part {...props} />
  </Suspense>
);
