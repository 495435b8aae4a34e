// `credentials@server:port/path?query`, as most schemes have it. Source: RFC 3986.
import { domainToASCII } from 'node:url';
import { hostName } from '../../kernel/index.js';
import { LinkError } from './link-error.js';
import { Parameters } from './parameters.js';
import { unescaped } from './text.js';

export interface Authority {
  /** before the `@`, still escaped; empty for none */
  readonly credentials: string;
  /** host name in ASCII or address, IPv6 without brackets */
  readonly server: string;
  /** as it was written; empty for none */
  readonly portText: string;
  readonly parameters: Parameters;
}

const LARGEST_PORT = 65_535;

export function serverIn(text: string): string {
  if (text === '') throw new LinkError('server', 'it names no server');
  // Longer ones are slow to convert, and no name is longer.
  const server = text.length > 255 ? undefined : (hostName(text) ?? hostName(domainToASCII(text)));
  if (server === undefined) throw new LinkError('server', 'its server is not a host name or an address');
  return server;
}

export function portIn(text: string, otherwise?: number): number {
  if (text === '' && otherwise !== undefined) return otherwise;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > LARGEST_PORT)
    throw new LinkError('port', `its port is not a number from 1 to ${LARGEST_PORT}`);
  return port;
}

export function authorityIn(body: string): Authority {
  const mark = body.indexOf('?');
  const front = mark < 0 ? body : body.slice(0, mark);
  // Some programs do not escape slashes in credentials.
  const at = front.lastIndexOf('@');
  const [place = ''] = front.slice(at + 1).split('/', 1);
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(place) ?? [];
  if (host === '' && place !== '' && !place.startsWith(':'))
    throw new LinkError('server', 'its server is not a host name or an address; IPv6 needs brackets');
  return {
    credentials: front.slice(0, Math.max(at, 0)),
    server: serverIn(unescaped(host, 'server')),
    portText: port,
    parameters: Parameters.in(mark < 0 ? '' : body.slice(mark + 1)),
  };
}

/** The credentials, unescaped; an error without any. */
export function credentialsIn({ credentials }: Pick<Authority, 'credentials'>, what: string): string {
  const plain = unescaped(credentials, 'credentials');
  if (plain === '') throw new LinkError('credentials', `it has no ${what} before the server`);
  return plain;
}
