// Writes replies with the headers that all replies of a listener share.
import type { Request, Response } from 'express';
import type { Proxies } from './proxies.js';
import { isPinnable } from './transport-security.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

export interface SharedHeaders {
  readonly proxies: Proxies;
  /** on every reply, unless the route sets them: name, value, name, value … */
  readonly headers: readonly string[];
  /** instead of those on replies over TLS to a request under a host name */
  readonly secureHeaders?: readonly string[];
}

export class ReplyWriter {
  readonly #shared: SharedHeaders;

  constructor(shared: SharedHeaders) {
    this.#shared = shared;
  }

  /** Sends a text of JSON. */
  json(response: Response, text: string, mediaType = JSON_TYPE): void {
    const length = Buffer.byteLength(text);
    // All ASCII, so characters are bytes; Node sends Latin-1 faster.
    this.send(
      response,
      ['Content-Type', mediaType, 'Content-Length', String(length), 'Cache-Control', 'no-store'],
      text,
      length === text.length ? 'latin1' : 'utf8',
    );
  }

  #headers(request: Request): readonly string[] {
    const { headers, secureHeaders = headers, proxies } = this.#shared;
    return proxies.isSecure(request) && isPinnable(proxies.requestHost(request)) ? secureHeaders : headers;
  }

  /** The headers of every reply, unless the route has set them. */
  setHeaders(response: Response): void {
    const headers = this.#headers(response.req);
    for (let i = 0; i < headers.length; i += 2)
      if (!response.hasHeader(headers[i] as string))
        response.setHeader(headers[i] as string, headers[i + 1] as string);
  }

  /** One call with all headers costs a fraction of many `setHeader` calls. Those remain for routes that set headers, and where Node computes the length. */
  send(
    response: Response,
    own: readonly string[],
    body?: string | Buffer,
    encoding: BufferEncoding = 'utf8',
  ): void {
    const headers = this.#headers(response.req);
    if (own.includes('Content-Length') && response.getHeaderNames().length === 0)
      response.writeHead(response.statusCode, [...headers, ...own]);
    else {
      this.setHeaders(response);
      for (let i = 0; i < own.length; i += 2) response.setHeader(own[i] as string, own[i + 1] as string);
    }
    response.end(body, encoding);
  }
}
