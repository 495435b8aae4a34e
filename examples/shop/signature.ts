// The signature of a webhook, in the format of Standard Webhooks; other providers differ in names and order, not in kind.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A delivery that was recorded cannot be played again later. */
const TOLERANCE_S = 300;

/** The key of a secret as providers show it, `whsec_` and base64; throws for anything else. */
export function keyOf(secret: string): Buffer {
  const [, text = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(text, 'base64');
  if (key.length < 24) throw new Error('SHOP_SECRET must be whsec_ and at least 24 bytes in base64');
  return key;
}

/** Whether the owner of the key has sent these bytes, within the last five minutes. `body` is what came, not JSON written again. */
export function isSigned(key: Buffer, headers: IncomingHttpHeaders, body: Buffer, now = Date.now()): boolean {
  const [id, at, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name] ?? ''),
  ) as [string, string, string];
  if (id === '' || !/^\d{1,12}$/.test(at) || Math.abs(now / 1000 - Number(at)) > TOLERANCE_S) return false;
  const wanted = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest();
  return signatures.split(' ').some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    return one.startsWith('v1,') && given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}
