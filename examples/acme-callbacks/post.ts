// Sends one POST in the format of standardwebhooks.com, so that receivers can use its libraries: the signature covers id, time and body.
import { createHmac } from 'node:crypto';
import type { Notification } from '@weir-panel/weir/plugins/notifications';
import type { OutgoingFetch } from '@weir-panel/weir/plugins/outgoing';

export interface Target {
  readonly url: string;
  /** `whsec_` and a key in base64 */
  readonly secret: string;
}

export const signatureOf = (secret: string, id: string, seconds: string, body: string): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64')}`;

export async function post(
  fetch: OutgoingFetch,
  { url, secret }: Target,
  { id, event, at, text, data }: Notification,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({
    type: event,
    timestamp: new Date(at).toISOString(),
    data: { text, ...data },
  });
  const seconds = String(Math.floor(Date.now() / 1000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatureOf(secret, id, seconds, body),
  };
  const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`the receiver answered ${answer.status}`);
}
