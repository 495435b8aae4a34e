// Checks the request of a plugin before a connection is opened.
import { type CallOptions, OutgoingError } from './contract.js';
import { type Destination, destinationOf } from './destination.js';
import { ENCODINGS } from './reply.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** The panel controls the connection, so plugins cannot set these; another `Host` would reach another site. */
const OURS = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const wrong = (sentence: string): OutgoingError => new OutgoingError('url', sentence);

/** Returns the destination of a URL. The message does not repeat the URL, which may hold a secret. */
export function readUrl(url: URL): Destination {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong(`a call needs a URL of http or https, not of ${url.protocol.slice(0, 20)}`);
  const destination = destinationOf(url);
  if (!destination) throw wrong('the host of the URL is neither a host name nor an address');
  if (url.username !== '' || url.password !== '')
    throw wrong(
      `the URL for ${destination.host} has a user name or password in it; send them in the header Authorization`,
    );
  return destination;
}

export function urlOf(given: string | URL): URL {
  const text = String(given);
  if (!URL.canParse(text)) throw wrong('the URL of the call must be absolute');
  return new URL(text);
}

export function methodOf(method = 'GET'): string {
  const known = METHODS.find((name) => name === String(method).toUpperCase());
  if (known === undefined) throw wrong(`the method must be one of ${METHODS.join(', ')}`);
  return known;
}

/** Returns the body as bytes, with its content type. */
export async function packed(
  given: CallOptions['body'],
  method: string,
): Promise<{ body?: Uint8Array; type?: string }> {
  if (given === undefined) return {};
  if (method === 'GET' || method === 'HEAD') throw wrong(`a call with ${method} has no body`);
  const response = new Response(given as ConstructorParameters<typeof Response>[0]);
  const type = response.headers.get('content-type');
  return { body: new Uint8Array(await response.arrayBuffer()), ...(type !== null && { type }) };
}

export function headersOf(given: CallOptions['headers'], type: string | undefined): Headers {
  let headers: Headers;
  try {
    headers = new Headers(given);
  } catch {
    // The message of Headers repeats the value.
    throw wrong('a header has an invalid name or value');
  }
  const taken = OURS.find((name) => headers.has(name));
  if (taken !== undefined) throw wrong(`the header ${taken} is set by the panel; leave it out`);
  if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type);
  if (!headers.has('accept')) headers.set('accept', '*/*');
  if (!headers.has('user-agent')) headers.set('user-agent', 'weir');
  headers.set('accept-encoding', ENCODINGS);
  return headers;
}
