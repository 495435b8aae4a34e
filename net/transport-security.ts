// HTTP Strict Transport Security (RFC 6797): browsers that have used TLS once keep using it.
import { isIP } from 'node:net';
import { isLoopback } from './host-name.js';

/** Header name and value, for 180 days. Without subdomains and preload lists: other servers of this domain are not ours to configure. */
export const STRICT_TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=15552000'];

/** Browsers ignore the header for addresses (8.1.1). For localhost it would break every other server of that machine. */
export const isPinnable = (host: string): boolean => host !== '' && isIP(host) === 0 && !isLoopback(host);
