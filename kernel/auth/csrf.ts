// Cross-site request forgery: a page elsewhere can make a browser send our cookie, but cannot read or set this token.
import { randomBytes } from 'node:crypto';
import { kernelErrors } from '../errors/errors.js';
import { sameSecret } from './session.js';

/** Holds the token of somebody who has not logged in yet; only the form login asks for it. */
export const CSRF_COOKIE = 'weir_csrf';
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

export const newCsrfToken = (): string => randomBytes(32).toString('base64url');
export const isSafe = (method: string): boolean => SAFE.has(method);

/** Rejects unless header `X-CSRF-Token` or form field `_csrf` carries the expected token. */
export function requireCsrf(expected: string | undefined, sent: string | undefined): void {
  if (!expected || !sent || !sameSecret(expected, sent)) throw kernelErrors.CSRF();
}

/** A browser says where a request comes from; only our own pages pass. */
export function isSameOrigin(headers: {
  origin?: string | undefined;
  host?: string | undefined;
  'sec-fetch-site'?: string | undefined;
}): boolean {
  if (headers['sec-fetch-site'] !== undefined) return headers['sec-fetch-site'] === 'same-origin';
  if (headers.origin === undefined || headers.host === undefined) return false;
  return URL.canParse(headers.origin) && new URL(headers.origin).host === headers.host;
}
