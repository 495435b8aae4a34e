// Brings the other ways to log in after the form: without them there is still the password.
import { type ComponentType, lazy, Suspense } from 'react';
import { spoken } from '../language/context.js';
import type { OtherLoginsProps } from './other-logins.js';

const Part = lazy(async (): Promise<{ default: ComponentType<OtherLoginsProps> }> => {
  try {
    const [{ OtherLogins }] = await Promise.all([import('./other-logins.js'), spoken.whole()]);
    return { default: OtherLogins };
  } catch {
    return { default: () => null };
  }
});

export const LaterLogins = (props: OtherLoginsProps) => (
  <Suspense>
    <Part {...props} />
  </Suspense>
);
