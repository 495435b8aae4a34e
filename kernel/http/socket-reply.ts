// Writes a reply to the connection itself, for requests that were not read and have no response object.
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { kernelErrors, type PanelError } from '../errors/errors.js';
import { failure } from './envelope.js';

/** Sends the error and closes the connection; without `envelope` only its status. */
export function refuseOnSocket(socket: Duplex, error: PanelError, envelope = true, id?: string): void {
  const { status, headers, body } = failure(error, id ?? randomUUID());
  const text = envelope ? JSON.stringify(body) : '';
  const lines = Object.entries({
    ...headers,
    Connection: 'close',
    ...(envelope && { 'Content-Type': 'application/json; charset=utf-8' }),
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(text),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
}

/** The error for a request that Node could not parse. */
export function unreadable(code: string | undefined): PanelError {
  if (code === 'HPE_HEADER_OVERFLOW') return kernelErrors.LONG_HEADERS();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return kernelErrors.SLOW_REQUEST();
  return kernelErrors.BAD_REQUEST();
}

/** The reply under way on a connection, in an undocumented property of Node's. */
export const isAnswering = (socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): boolean =>
  socket._httpMessage?.headersSent ?? false;
