// The place of a page, as WebAuthn sees it: a passkey works there and nowhere else.
import { isIP } from 'node:net';
import type { RequestInfo } from '../../kernel/index.js';
import { errors } from './errors.js';

export interface Place {
  /** host name without port: the relying party */
  readonly rpId: string;
  /** scheme, host and port */
  readonly origin: string;
}

const isLocal = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/**
 * The host is the one that the panel takes a request for, with the proxies that it trusts. Scheme and port come from the
 * browser, which sends the origin of its page: behind a proxy nobody else knows them. Throws where WebAuthn is impossible.
 */
export function placeOf({ host, headers, secure }: Pick<RequestInfo, 'host' | 'headers' | 'secure'>): Place {
  if (isIP(host) !== 0) throw errors.NEEDS_NAME();
  const { origin = '' } = headers;
  if (!URL.canParse(origin)) throw secure || isLocal(host) ? errors.OTHER_HOST() : errors.NEEDS_HTTPS();
  const page = new URL(origin);
  if (page.hostname !== host) throw errors.OTHER_HOST();
  if (page.protocol !== 'https:' && !(page.protocol === 'http:' && isLocal(host))) throw errors.NEEDS_HTTPS();
  return { rpId: host, origin: page.origin };
}
