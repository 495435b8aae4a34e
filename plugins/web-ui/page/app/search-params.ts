// The view in the address, as plain texts: `?status=active&sort=email`.

export type SearchParams = Readonly<Record<string, string>>;

export const parseSearch = (search: string): SearchParams => Object.fromEntries(new URLSearchParams(search));

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** The path within the page to return to after a login; `/` for anything else, such as another site. */
export function returnPath(wanted: string | undefined): string {
  if (!wanted?.startsWith('/') || /^\/[/\\]|[\\\s\p{Cc}]/u.test(wanted)) return '/';
  return /^\/login(?:[/?#]|$)/.test(wanted) ? '/' : wanted;
}
