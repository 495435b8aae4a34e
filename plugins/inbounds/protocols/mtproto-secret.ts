// Secrets of MTProto proxies that look like TLS: `ee`, 16 random bytes and the name of a site, in hexadecimal.
// Source: core.telegram.org/mtproto/mtproto-transports; github.com/9seconds/mtg, README.
import { randomBytes } from 'node:crypto';

export const DEFAULT_DOMAIN = 'www.cloudflare.com';
/** A host name; the proxy shows it to observers. */
export const DOMAIN =
  /^(?=.{1,182}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

const SECRET = /^(?:ee|dd)?([0-9a-f]{32})((?:[0-9a-f]{2})*)$/i;

/** The part that tells clients apart: the name of the site is no secret. */
export const secretKey = (secret: string): string => SECRET.exec(secret)?.[1]?.toLowerCase() ?? secret;

/** The secret in the one form that is stored. Its random part and its site are kept where they are valid; blank gives a new one. */
export function validSecret(secret: string, domain: string): string {
  const [, random = randomBytes(16).toString('hex'), hex = ''] = SECRET.exec(secret.trim()) ?? [];
  const own = Buffer.from(hex, 'hex').toString('latin1');
  const site = DOMAIN.test(own) ? own : domain || DEFAULT_DOMAIN;
  return `ee${random}${Buffer.from(site).toString('hex')}`.toLowerCase();
}
