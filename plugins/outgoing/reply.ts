// A reply as a `Response`: its body is decompressed, counted and limited while it is read.
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, Transform } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutgoingError } from './contract.js';
import { type Destination, nameOf } from './destination.js';
import { failureOf, type Sent } from './exchange.js';

/** What `unpacked` can read, for `Accept-Encoding`. */
export const ENCODINGS = 'gzip, deflate, br';
const NO_BODY = [204, 205, 304];

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function unpackerOf(reply: IncomingMessage, destination: Destination): Transform | undefined {
  const encoding = (reply.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return undefined;
  // Only one layer: each further layer could multiply the size.
  const unpacker = Object.hasOwn(unpackers, encoding) ? unpackers[encoding] : undefined;
  if (!unpacker)
    throw new OutgoingError(
      'network',
      `${nameOf(destination)} packed its reply in a way that nobody asked for; ${ENCODINGS} can be read`,
    );
  return unpacker();
}

/** The last stage: reading the body rejects with its errors. */
function counter(destination: Destination, maxBytes: number, signal: AbortSignal): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(tooLarge(destination, maxBytes));
      else done(null, chunk);
    },
    destroy(error, done) {
      done(error && error !== signal.reason ? failureOf(error, destination) : error);
    },
  });
}

const tooLarge = (destination: Destination, maxBytes: number): OutgoingError =>
  new OutgoingError(
    'size',
    `the reply of ${nameOf(destination)} is larger than ${maxBytes} bytes; set the limit maxBytes where that is right`,
  );

function headersOf(reply: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < reply.rawHeaders.length; i += 2)
    headers.append(reply.rawHeaders[i] ?? '', reply.rawHeaders[i + 1] ?? '');
  return headers;
}

/** Calls `over` once, when the reply is closed. The signal ends the body with its reason. */
export function responseOf(
  reply: IncomingMessage,
  { url, destination, method }: Sent,
  {
    maxBytes,
    signal,
    redirected,
    over,
  }: { maxBytes: number; signal: AbortSignal; redirected: boolean; over: () => void },
): Response {
  const status = reply.statusCode ?? 0;
  if (status < 200 || status > 599)
    throw new OutgoingError(
      'network',
      `${nameOf(destination)} answered with the status ${status}, which is none`,
    );
  const told = { status, statusText: reply.statusMessage ?? '', headers: headersOf(reply) };
  let body: ReadableStream | null = null;
  if (method === 'HEAD' || NO_BODY.includes(status)) {
    reply.destroy();
    over();
  } else {
    const unpacker = unpackerOf(reply, destination);
    if (!unpacker && Number(reply.headers['content-length'] ?? 0) > maxBytes)
      throw tooLarge(destination, maxBytes);
    const counted = counter(destination, maxBytes, signal);
    const end = (): void => void counted.destroy(signal.reason as Error);
    signal.addEventListener('abort', end, { once: true });
    pipeline([reply, ...(unpacker ? [unpacker] : []), counted], () => {
      signal.removeEventListener('abort', end);
      reply.destroy();
      over();
    });
    if (signal.aborted) end();
    body = Readable.toWeb(counted) as ReadableStream;
  }
  const response = new Response(body as ConstructorParameters<typeof Response>[0], told);
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
}
