// A reply whose body is produced while it is sent, with its headers.
import type { Response } from 'express';
import { downloadName } from './file-name.js';
import { discard, type Pieces, sendStream } from './send-stream.js';

/** Returned by the handler of a `stream` route. */
export interface Streamed<H = Readonly<Record<string, string | number>>> {
  /**
   * Texts or bytes: a Readable, an async generator. A function is called only if a body is needed: not for HEAD, and not
   * for a caller that already has this `etag`. The stream is destroyed when the caller disconnects; a stream that waits for
   * something should also listen to the `signal` of the request.
   */
  readonly body: Pieces | (() => Pieces | Promise<Pieces>);
  /** Browsers save it under this name (Content-Disposition, RFC 6266). */
  readonly fileName?: string;
  /** Bytes, if known; a stream with more or fewer bytes breaks the connection. */
  readonly length?: number;
  /** Changes with the content; letters, digits and the like, without quotes. A caller that already has it gets 304. */
  readonly etag?: string;
  readonly lastModified?: Date;
  readonly headers?: H;
}

/** Sends the reply; `setHeaders` adds the headers of every reply. An error before the first piece removes the reply's own headers. */
export async function replyStreamed(
  response: Response,
  mediaType: string,
  streamed: Streamed,
  signal: AbortSignal,
  setHeaders: () => void,
): Promise<void> {
  const { body, length } = streamed;
  try {
    setValidators(response, streamed);
    const { method, fresh } = response.req;
    if (fresh || method === 'HEAD') {
      if (typeof body !== 'function') discard(body);
      setOthers(response, mediaType, streamed);
      setHeaders();
      if (fresh) response.status(304).removeHeader('Content-Length');
      response.end();
      return;
    }
    const begin = (): void => {
      setOthers(response, mediaType, streamed);
      setHeaders();
    };
    await sendStream(response, typeof body === 'function' ? await body() : body, { length, signal, begin });
  } catch (error) {
    if (!response.headersSent) for (const name of response.getHeaderNames()) response.removeHeader(name);
    throw error;
  }
}

function setValidators(response: Response, { etag, lastModified }: Streamed): void {
  if (etag !== undefined) response.setHeader('ETag', `"${etag}"`);
  if (lastModified) response.setHeader('Last-Modified', lastModified.toUTCString());
  if (!response.hasHeader('Cache-Control'))
    response.setHeader(
      'Cache-Control',
      etag === undefined && !lastModified ? 'no-store' : 'private, no-cache',
    );
}

function setOthers(
  response: Response,
  mediaType: string,
  { fileName, length, headers = {} }: Streamed,
): void {
  if (fileName !== undefined) response.attachment(downloadName(fileName));
  if (length !== undefined) response.setHeader('Content-Length', length);
  response.setHeader('Content-Type', mediaType);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
