// Checks whether a request comes from a page of the same host.
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the method is safe, that is, changes nothing (RFC 9110, 9.2.1). */
export const isSafe = (method: string): boolean => SAFE.has(method);

/** Browsers send the origin of a request; only pages of this host pass. */
export function isSameOrigin(headers: {
  origin?: string | undefined;
  host?: string | undefined;
  'sec-fetch-site'?: string | undefined;
}): boolean {
  if (headers['sec-fetch-site'] !== undefined) return headers['sec-fetch-site'] === 'same-origin';
  if (headers.origin === undefined || headers.host === undefined) return false;
  return URL.canParse(headers.origin) && new URL(headers.origin).host === headers.host;
}
