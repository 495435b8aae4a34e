// Where a panel is, as people type it: its address as the browser shows it.

export interface Place {
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly port: number;
  readonly basePath: string;
}

/** What to call for `https://host:2053/path/`; also without a scheme. Undefined for what is no address. */
export function placeOfTyped(typed: string): Place | undefined {
  const text = typed.trim();
  if (text === '' || /\s/.test(text)) return undefined;
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  let url: URL;
  try {
    url = new URL(whole);
  } catch {
    return undefined;
  }
  const { protocol, hostname, port, pathname, username, search } = url;
  if ((protocol !== 'https:' && protocol !== 'http:') || hostname === '' || username !== '' || search !== '')
    return undefined;
  const scheme = protocol === 'https:' ? 'https' : 'http';
  // The address of a page below the panel is what people have in their hands.
  const basePath = pathname.replace(/(^|\/)panel(?:\/.*)?$/, '$1').replace(/\/*$/, '/');
  return {
    scheme,
    address: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (scheme === 'https' ? 443 : 80) : Number(port),
    basePath,
  };
}

export function typedPlace({ scheme, address, port, basePath }: Place): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return `${scheme}://${host}:${port}${basePath}`;
}
