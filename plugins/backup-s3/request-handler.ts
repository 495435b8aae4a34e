// Sends the requests of the S3 client through the panel's guarded calls.
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import type { OutgoingError, OutgoingFetch } from '../outgoing/contract.js';

/** A request as the client builds it. */
interface HttpRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}
interface HttpReply {
  readonly statusCode: number;
  readonly reason: string;
  readonly headers: Record<string, string>;
  readonly body: Readable;
}

/** The panel sets these itself; all but `host` are outside the signature, and that one is the same. */
const SET_BY_PANEL = new Set(['host', 'content-length', 'expect', 'connection', 'transfer-encoding']);
/** Replies that are no file are XML, which the client parses in one piece: 256 KiB take 50 ms. */
const MOST_XML = 256 * 1024;
/** Calls of one plugin are limited to 300 a minute. */
const BUSY_MS = 2_000;
const MOST_BUSY = 60;

/** As RFC 3986 has it, which is how the signature was computed. */
const encoded = (part: string): string =>
  encodeURIComponent(part).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

function queryOf(query: HttpRequest['query'] = {}): string {
  const parts = Object.keys(query)
    .sort()
    .flatMap((key) => {
      const value = query[key];
      if (value === null || value === undefined) return [encoded(key)];
      return (typeof value === 'string' ? [value] : value).map((one) => `${encoded(key)}=${encoded(one)}`);
    });
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}

export interface Way {
  readonly fetch: OutgoingFetch;
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
}

/** For `requestHandler` of the client. The body of a request is bytes, never a stream. */
export class GuardedHandler {
  readonly #way: Way;
  readonly metadata = { handlerProtocol: 'http/1.1' };

  constructor(way: Way) {
    this.#way = way;
  }

  async handle(request: HttpRequest): Promise<{ response: HttpReply }> {
    const { fetch, allowPrivate, signal } = this.#way;
    const { protocol, hostname, port, path, method } = request;
    const place = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
    const headers = Object.entries(request.headers).filter(([name]) => !SET_BY_PANEL.has(name.toLowerCase()));
    const sent = bytesOf(request.body);
    const url = `${place}${path}${queryOf(request.query)}`;
    const reply = await this.#whenFree(() =>
      fetch(url, {
        method,
        headers,
        ...(sent && { body: sent }),
        signal,
        // The signature holds for one host only.
        redirect: 'manual',
        allowPrivate,
      }),
    );
    const body = reply.body ? Readable.fromWeb(reply.body as never) : Readable.from([]);
    // One that nobody reads any more must not end the process.
    body.on('error', () => undefined);
    const isFile = method === 'GET' && request.query?.['x-id'] === 'GetObject' && reply.ok;
    const replied = isFile ? body : Readable.from(limited(body));
    // Whoever reads it receives its errors.
    replied.on('error', () => undefined);
    return {
      response: {
        statusCode: reply.status,
        reason: reply.statusText,
        headers: Object.fromEntries(reply.headers),
        body: replied,
      },
    };
  }

  async #whenFree<T>(call: () => Promise<T>): Promise<T> {
    for (let n = 0; ; n++)
      try {
        return await call();
      } catch (error) {
        if ((error as OutgoingError).code !== 'busy' || n >= MOST_BUSY) throw error;
        await sleep(BUSY_MS, undefined, { signal: this.#way.signal });
      }
  }

  destroy(): void {}
  updateHttpClientConfig(): void {}
  httpHandlerConfigs(): Record<string, never> {
    return {};
  }
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MOST_XML) throw new Error(`it answered with more than ${MOST_XML / 1024} KiB of XML`);
    yield piece;
  }
}

function bytesOf(body: unknown): Uint8Array | string | undefined {
  if (body === undefined || body === null || body === '') return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new Error('the client wants to send something else than bytes');
}
