// Which host stands in a link.
import { isIP, isIPv6 } from 'node:net';
import type { Inbound } from '../inbounds/contract.js';

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');
const isUnspecified = (host: string): boolean => host === '' || host === '0.0.0.0' || host === '::' || host === '::0';

/** The address that an inbound brings with it, or nothing when it listens everywhere or only on this machine. */
function ownAddress({ listen, shareAddr, shareAddrStrategy }: Inbound): string {
  if (shareAddrStrategy === 'custom' && shareAddr !== '') return shareAddr;
  return isUnspecified(listen) || isLoopback(listen) ? '' : listen;
}

export interface PublicHosts {
  readonly publicHost: string | undefined;
  readonly subDomain: string;
}

/** The host for inbounds without an address of their own. */
export function hostFor(requestHost: string, { publicHost, subDomain }: PublicHosts): string {
  if (!isUnspecified(requestHost) && !isLoopback(requestHost)) return requestHost;
  return publicHost || subDomain || requestHost || 'localhost';
}

const bracketed = (host: string): string => (isIP(host) === 6 || isIPv6(host) ? `[${host}]` : host);

/** `host:port` of an entry as a function of the request's host. */
export function authorityOf(inbound: Inbound, address: string | undefined, port: number | undefined): (host: string) => string {
  const fixed = address || ownAddress(inbound);
  const tail = `:${port ?? inbound.port}`;
  if (fixed === '') return (host) => bracketed(host) + tail;
  const authority = bracketed(fixed.replace(/^\[|\]$/g, '')) + tail;
  return () => authority;
}
