// Which host stands in a link.
import { canonicalAddress, isLoopback } from '../../kernel/index.js';
import type { Inbound } from '../inbounds/contract.js';

const isUnspecified = (host: string): boolean =>
  host === '' || host === '0.0.0.0' || canonicalAddress(host) === '::';

/** The address that an inbound brings with it, or nothing when it listens everywhere or only on this machine. */
function ownAddress({ listen, shareAddr, shareAddrStrategy }: Inbound): string {
  if (shareAddrStrategy === 'custom' && shareAddr !== '') return shareAddr;
  return isUnspecified(listen) || isLoopback(listen) ? '' : listen;
}

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

/** `host:port` of an entry as a function of what `hostFor` gives. */
export function authorityOf(
  inbound: Inbound,
  address: string | undefined,
  port: number | undefined,
): (host: string) => string {
  const fixed = address || ownAddress(inbound);
  const tail = `:${port ?? inbound.port}`;
  if (fixed === '') {
    // Nearly all fetches ask for the same host.
    let last = '';
    let known = tail;
    return (host) => {
      if (host !== last) {
        known = host + tail;
        last = host;
      }
      return known;
    };
  }
  const authority = bracketed(fixed.replace(/^\[|\]$/g, '')) + tail;
  return () => authority;
}
