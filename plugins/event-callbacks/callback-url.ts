// Addresses to which the panel sends something.

/** Returns what is wrong with it, after "it" of an error. */
export function callbackUrlProblem(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || !/^https?:\/\/[^/]/i.test(value))
    return 'it must be a URL that begins with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'it must have no user name and no password';
  return url.hash === '' ? undefined : 'it must have no fragment (#…)';
}
