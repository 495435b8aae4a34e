// HTTP Strict Transport Security (RFC 6797): browsers that came over TLS once do not go without it any more.
import { isIP } from 'node:net';
import { isLoopback } from './host-name.js';

/** Name and value, for 180 days. Neither subdomains nor preload lists: what else runs under this domain is not ours to decide. */
export const STRICT_TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=15552000'];

/** Browsers ignore it for addresses (8.1.1). For localhost it would break every other server of that machine. */
export const isPinnable = (host: string): boolean => host !== '' && isIP(host) === 0 && !isLoopback(host);
