// Sends one request and reads the head of its reply, with Node's own modules, so that nock can answer in tests.
import http, { type Agent as HttpAgent, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { messageOf } from '../../kernel/index.js';
import type { AddressGuard, Resolve } from './address-guard.js';
import { type CallLimits, OutgoingError } from './contract.js';
import { type Destination, nameOf } from './destination.js';
import { agentOf, type Trust, type Way as DialledWay } from './dialler.js';
import type { ProxyServer } from './proxy.js';

export interface Sent {
  readonly url: URL;
  readonly destination: Destination;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}
export interface Way extends Trust {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly proxy: ProxyServer | undefined;
  readonly limits: CallLimits;
  /** for a connection that stays open */
  readonly kept?: ((isSecure: boolean, way: DialledWay) => { readonly agent: HttpAgent }) | undefined;
  /** aborted when the whole call is over, with the reason */
  readonly signal: AbortSignal;
}

/** Names the host and the original reason, instead of "socket hang up" or "fetch failed". */
export function failureOf(error: unknown, destination: Destination): Error {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof OutgoingError) return at;
  const all = (error as AggregateError | undefined)?.errors ?? [];
  const [first] = all as unknown[];
  if (first instanceof OutgoingError) return first;
  const { message = '', code } = error as NodeJS.ErrnoException;
  const reason = message || (first === undefined ? '' : messageOf(first)) || code || messageOf(error);
  return new OutgoingError('network', `${nameOf(destination)} cannot be reached: ${reason}`, error);
}

const seconds = (ms: number): string => `${ms / 1000} s`;

class StaleConnection extends OutgoingError {
  constructor(destination: Destination, cause: Error) {
    super('network', `${nameOf(destination)} closed the connection`, cause);
  }
}

/** Rejects with an `OutgoingError`, or with the reason of the signal. */
export async function exchange(sent: Sent, way: Way): Promise<IncomingMessage> {
  try {
    return await attempt(sent, way);
  } catch (error) {
    // What changes something may have been done.
    if (!(error instanceof StaleConnection) || sent.method !== 'GET') throw error;
    return attempt(sent, way);
  }
}

async function attempt(sent: Sent, way: Way): Promise<IncomingMessage> {
  const { url, destination, method, headers, body } = sent;
  const { limits, signal: whole } = way;
  const late = new AbortController();
  const signal = AbortSignal.any([whole, late.signal]);
  const place = nameOf(destination);
  const end = (what: string, ms: number, limit: string) => () =>
    late.abort(new OutgoingError('time', `${place} ${what} within ${seconds(ms)} (${limit})`));
  const connecting = setTimeout(
    end('could not be connected to', limits.connectMs, 'connectMs'),
    limits.connectMs,
  );
  const answering = setTimeout(end('did not answer', limits.firstByteMs, 'firstByteMs'), limits.firstByteMs);
  const isSecure = url.protocol === 'https:';
  const host = destination.isAddress ? url.hostname.replace(/^\[(.*)\]$/, '$1') : destination.host;
  const dialled = { ...way, signal, host, destination };
  const connection = way.kept?.(isSecure, dialled) ?? { agent: agentOf(isSecure, dialled) };
  try {
    return await new Promise((resolve, reject) => {
      const request = (isSecure ? https : http).request({
        protocol: url.protocol,
        host,
        port: destination.port,
        path: `${url.pathname}${url.search}`,
        method,
        headers: {
          ...Object.fromEntries(headers),
          host: url.host,
          ...(!way.kept && { connection: 'close' }),
        },
        ...connection,
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The server closed the connection of an earlier call in the moment that this one was sent.
        const isStale = request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
        reject(isStale ? new StaleConnection(destination, error) : failureOf(error, destination));
      });
      // Closed without an error or a reply, for example by an unexpected change of protocol.
      request.once('close', () => reject(failureOf(new Error('it closed the connection'), destination)));
      const stop = (): void => {
        request.destroy();
        reject(signal.reason as Error);
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      request.once('socket', (socket) => {
        // Through a proxy it is already open, and so is one of an earlier call.
        if (request.reusedSocket || (!isSecure && !socket.connecting)) clearTimeout(connecting);
        else socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      });
      request.once('response', (reply) => {
        signal.removeEventListener('abort', stop);
        resolve(reply);
      });
      request.end(body);
    });
  } catch (error) {
    throw error === whole.reason ? error : failureOf(error, destination);
  } finally {
    clearTimeout(connecting);
    clearTimeout(answering);
  }
}
