// The host in links.
import { isLoopback } from '../../kernel/index.js';
import { type EntryTemplate, isUnspecified } from '../inbounds/contract.js';

export interface PublicHosts {
  readonly publicHost: string | undefined;
  readonly subDomain: string;
}

export const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Loopback address, in URL form, of a server that listens on this host. */
export const reachableHost = ({
  host,
  publicHost,
}: {
  host: string;
  publicHost?: string | undefined;
}): string =>
  bracketed(isUnspecified(host) ? (publicHost ?? (host.includes(':') ? '::1' : '127.0.0.1')) : host);

/**
 * The host for inbounds without an address of their own; IPv6 in brackets. WEIR_PUBLIC_HOST takes precedence over the
 * host of the request, which takes precedence over the setting unless it is missing or this machine itself.
 */
export function hostFor(requestHost: string, { publicHost, subDomain }: PublicHosts): string {
  if (publicHost !== undefined) return bracketed(publicHost);
  if (!isUnspecified(requestHost) && !isLoopback(requestHost)) return bracketed(requestHost);
  return bracketed(subDomain || requestHost || 'localhost');
}

/** The server of an entry in the two forms that formats need. */
export interface Place {
  /** IPv6 without brackets */
  readonly server: string;
  /** `server:port`, IPv6 in brackets */
  readonly authority: string;
}

const placeOf = (server: string, port: number): Place => ({
  server,
  authority: `${bracketed(server)}:${port}`,
});

/** The server of an entry as a function of the host from `hostFor`. */
export function placeFor({ server, port }: Pick<EntryTemplate, 'server' | 'port'>): (host: string) => Place {
  if (server !== '') {
    const place = placeOf(server, port);
    return () => place;
  }
  // Nearly all fetches use the same host.
  let last = '';
  let known = placeOf('', port);
  return (host) => {
    if (host !== last) {
      known = placeOf(host.replace(/^\[|\]$/g, ''), port);
      last = host;
    }
    return known;
  };
}
