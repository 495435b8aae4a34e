// Secrets and signatures of standardwebhooks.com, so that receivers can use its libraries.
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

const signatureOf = (secret: string, signed: string): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(signed)
    .digest('base64')}`;

/** The headers of one attempt. During a rotation both secrets sign: a receiver accepts a message when one of them fits. */
export function signedHeaders(
  secrets: readonly string[],
  uid: string,
  now: number,
  body: string,
): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  return {
    'content-type': 'application/json',
    'user-agent': 'Weir',
    'webhook-id': uid,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((secret) => signatureOf(secret, `${uid}.${seconds}.${body}`)).join(' '),
  };
}
