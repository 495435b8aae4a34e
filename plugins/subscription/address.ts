// Which host stands in a link.
import { isLoopback } from '../../kernel/index.js';
import { type EntryTemplate, isUnspecified } from '../inbounds/contract.js';

export interface PublicHosts {
  readonly publicHost: string | undefined;
  readonly subDomain: string;
}

export const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Where a server that listens here can be asked from this machine; in a URL. */
export const reachableHost = ({
  host,
  publicHost,
}: {
  host: string;
  publicHost?: string | undefined;
}): string =>
  bracketed(isUnspecified(host) ? (publicHost ?? (host.includes(':') ? '::1' : '127.0.0.1')) : host);

/**
 * The host for inbounds without an address of their own; IPv6 in brackets. WEIR_PUBLIC_HOST wins over what the caller
 * asked for, which wins over the setting unless it is this machine itself, or nothing.
 */
export function hostFor(requestHost: string, { publicHost, subDomain }: PublicHosts): string {
  if (publicHost !== undefined) return bracketed(publicHost);
  if (!isUnspecified(requestHost) && !isLoopback(requestHost)) return bracketed(requestHost);
  return bracketed(subDomain || requestHost || 'localhost');
}

/** Where the server of an entry is, in the two forms that formats need. */
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

/** The place of an entry as a function of what `hostFor` gives. */
export function placeFor({ server, port }: Pick<EntryTemplate, 'server' | 'port'>): (host: string) => Place {
  if (server !== '') {
    const place = placeOf(server, port);
    return () => place;
  }
  // Nearly all fetches ask for the same host.
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
