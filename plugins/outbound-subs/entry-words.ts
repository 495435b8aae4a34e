// What documents of other programs say in the same way.
import type { HttpHeaders, ShadowsocksAccount, Transport } from '../inbounds/contract.js';
import type { Fields } from './entry-fields.js';

/** The header `Host` has a place of its own. */
export function headersIn(all: Readonly<Record<string, readonly string[]>>): {
  readonly host: string;
  readonly headers: HttpHeaders | undefined;
} {
  const isHost = (name: string): boolean => name.toLowerCase() === 'host';
  const names = Object.keys(all);
  const host = names.filter(isHost).flatMap((name) => all[name] ?? []);
  const others = names.filter((name) => !isHost(name));
  return {
    host: host.join(','),
    headers:
      others.length > 0
        ? Object.fromEntries(others.map((name) => [name, (all[name] ?? []).join(',')]))
        : undefined,
  };
}

/** As the core writes early data: bytes in the query of the path. */
export const earlyData = (path: string, bytes: number): string =>
  bytes > 0 && !/[?&]ed=/.test(path) ? `${path}${path.includes('?') ? '&' : '?'}ed=${bytes}` : path;

/** With a method of 2022, the key of the server stands before that of the client. */
export function shadowsocksAccount(method: string, password: string): ShadowsocksAccount {
  const colon = method.startsWith('2022-') ? password.lastIndexOf(':') : -1;
  return colon > 0
    ? {
        protocol: 'shadowsocks',
        method,
        serverKey: password.slice(0, colon),
        password: password.slice(colon + 1),
      }
    : { protocol: 'shadowsocks', method, password };
}

/** Plain TCP; headers of an HTTP proxy cannot be expressed. */
export function oneHeader(fields: Fields): Transport {
  if (Object.keys(fields.headers('headers')).length > 0)
    throw fields.fault('headers', 'headers of an HTTP proxy cannot be expressed');
  return { kind: 'tcp' };
}
