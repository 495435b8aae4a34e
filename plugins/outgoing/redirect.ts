// The request after a redirect (RFC 9110, 15.4; the method as the Fetch standard has it, "HTTP-redirect fetch").
import { OutgoingError } from './contract.js';
import { type Destination, nameOf } from './destination.js';
import type { Sent } from './exchange.js';

const REDIRECTS = [301, 302, 303, 307, 308];
/** Headers that may go to another origin. Any other header may hold a secret. */
const HARMLESS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
];

/** Returns undefined if the reply is not a redirect. */
export const targetOf = (status: number | undefined, location: string | undefined): string | undefined =>
  status !== undefined && REDIRECTS.includes(status) ? location : undefined;

export function redirected(
  sent: Sent,
  status: number,
  location: string,
  read: (url: URL) => Destination,
): Sent {
  const from = nameOf(sent.destination);
  if (!URL.canParse(location, sent.url))
    throw new OutgoingError('redirect', `${from} redirects to an invalid URL`);
  const url = new URL(location, sent.url);
  if (sent.url.protocol === 'https:' && url.protocol !== 'https:')
    throw new OutgoingError(
      'redirect',
      `${from} redirects from HTTPS to ${url.protocol === 'http:' ? 'HTTP' : 'another scheme'}, where anybody could read and change the call`,
    );
  const destination = read(url);
  const toGet = status === 303 ? sent.method !== 'HEAD' : status < 303 && sent.method === 'POST';
  const headers = new Headers();
  for (const [name, value] of sent.headers)
    if (url.origin === sent.url.origin || HARMLESS.includes(name)) headers.set(name, value);
  if (toGet) headers.delete('content-type');
  return {
    url,
    destination,
    headers,
    method: toGet ? 'GET' : sent.method,
    body: toGet ? undefined : sent.body,
  };
}
