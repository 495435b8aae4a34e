// HTTP and SOCKS proxies. There is no standard: login in base64, escaped, or none.
import { authorityIn, portIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { hasControl, inBase64, unescaped } from './text.js';

const SOCKS_PORT = 1080;

function loginIn(credentials: string): { readonly user: string; readonly password: string } {
  const escaped = credentials.split(':');
  const [user = '', ...password] =
    escaped.length > 1
      ? escaped.map((part) => unescaped(part, 'credentials'))
      : inLogin(unescaped(credentials, 'credentials')).split(':');
  return { user, password: password.join(':') };
}
/** Without a colon it is base64 that has one, or only a name. */
function inLogin(text: string): string {
  const plain = text.includes(':') ? undefined : inBase64(text);
  if (plain === undefined || !plain.includes(':')) return text;
  if (hasControl(plain)) throw new LinkError('credentials', 'its credentials contain control characters');
  return plain;
}

const readerOf = (protocol: 'http' | 'mixed', schemes: readonly string[], port?: number): SchemeReader => ({
  schemes,
  read({ body }): ReadEntry {
    const { credentials, server, portText } = authorityIn(body);
    return {
      server,
      port: portIn(portText, port),
      account: { protocol, ...loginIn(credentials) },
      transport: { kind: 'tcp' },
      security: { kind: 'none' },
    };
  },
});

/** An address of the web has no port, or a path; a proxy has a port. */
export const http: SchemeReader = {
  schemes: ['http'],
  read(link): ReadEntry {
    if (/\/./.test(link.body)) throw new LinkError('link', 'it is the address of a web page, not of a proxy');
    return readerOf('http', []).read(link);
  },
};
export const socks: SchemeReader = readerOf('mixed', ['socks', 'socks5', 'socks5h'], SOCKS_PORT);
