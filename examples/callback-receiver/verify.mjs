import { createHmac, timingSafeEqual } from 'node:crypto';

/** Returns whether the panel sent this body, within the last five minutes; `body` is the text as it came. */
export function verify(secret, headers, body, now = Date.now()) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = headers;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const wanted = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`,
  );
  const isSame = (given) => given.length === wanted.length && timingSafeEqual(Buffer.from(given), wanted);
  return Math.abs(now / 1000 - Number(at)) < 300 && signatures.split(' ').some(isSame);
}
