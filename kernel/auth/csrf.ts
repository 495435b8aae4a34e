// Cross-site request forgery: a foreign page can make a browser send our cookie, but cannot read or set this token.
import { randomBytes } from 'node:crypto';
import { kernelErrors } from '../errors/errors.js';
import { sameSecret } from './session.js';

/** Holds the token of a caller who has not logged in yet; only the form login uses it. */
export const CSRF_COOKIE = 'weir_csrf';

export const newCsrfToken = (): string => randomBytes(32).toString('base64url');

/** Throws unless the header `X-CSRF-Token` or the form field `_csrf` carries the expected token. */
export function requireCsrf(expected: string | undefined, sent: string | undefined): void {
  if (!expected || !sent || !sameSecret(expected, sent)) throw kernelErrors.CSRF();
}
