// Requests that ask to switch protocols on their connection (RFC 9110, 7.8; RFC 6455).
import type { IncomingMessage } from 'node:http';

export const asksForWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** Treats the request as if it had not asked: HTTP allows a server to ignore the offer, and some programs offer HTTP/2 each time. */
export function withoutUpgrade(request: IncomingMessage, head: Buffer): Buffer {
  const { method, url, rawHeaders } = request;
  const kept = rawHeaders.flatMap((name, i) =>
    i % 2 === 0 && !/^(?:connection|upgrade|http2-settings)$/i.test(name)
      ? [`${name}: ${rawHeaders[i + 1]}\r\n`]
      : [],
  );
  return Buffer.concat([
    Buffer.from(`${method} ${url} HTTP/1.1\r\n${kept.join('')}Connection: close\r\n\r\n`, 'latin1'),
    head,
  ]);
}
