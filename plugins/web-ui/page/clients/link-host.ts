// Whether others can use a link: its host must not be the machine of whoever uses it.
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/** The host of a link if it is only the machine itself; blank for others, and where it cannot be read. */
export function loopbackOf(link: string): string {
  const host = URL.canParse(link) ? new URL(link).hostname : '';
  return isLoopback(host) ? host : '';
}
