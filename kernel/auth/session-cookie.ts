// The cookie of a session: one id under our name, and under further names that plugins add for older programs.
import { cookieOf } from '../../net/cookies.js';
import { extensionPoint } from '../container/token.js';

export const SESSION_COOKIE = 'weir_session';

/** Further names of the session cookie, for programs that look for another one. They are set and cleared together with it, and are read where it is missing. */
export const SessionCookies = extensionPoint<string>('kernel', 'SessionCookies', (name) =>
  typeof name === 'string' && /^[\w-]+$/.test(name) && !name.startsWith('weir_')
    ? undefined
    : 'it must be a name of letters, digits, - and _ that does not begin with weir_',
);

export class SessionCookieNames {
  further: readonly string[] = [];

  /** The names to set or clear instead of this one. Ours is the last: some programs use only the first cookie of a reply. */
  namesOf(name: string): readonly string[] {
    return name === SESSION_COOKIE ? [...this.further, name] : [name];
  }

  /** Adds the session cookie to cookies that hold it only under a further name. */
  read(cookies: Record<string, string>): Record<string, string> {
    if (this.further.length === 0 || cookies[SESSION_COOKIE] !== undefined) return cookies;
    const name = this.further.find((further) => cookies[further] !== undefined);
    return name === undefined ? cookies : { ...cookies, [SESSION_COOKIE]: cookies[name] as string };
  }

  /** The session id in a header `Cookie`. */
  idIn(header: string | undefined): string | undefined {
    return [SESSION_COOKIE, ...this.further]
      .map((name) => cookieOf(header, name))
      .find((id) => id !== undefined);
  }
}
