// HTTP through one outbound of a test core: a connection to a server, and requests on it.
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { messageOf } from '../../kernel/index.js';

/** A server, and the outbound that leads to it. */
export interface Target {
  readonly socket: string;
  /** `<name>:<password>` at the core */
  readonly login: string;
  readonly url: URL;
  /** ms for all of it */
  readonly limit: number;
  /** PEM of an authority that is trusted; for tests */
  readonly ca?: string;
}
/** A reply whose body may still come. */
export interface Asked {
  readonly status: number;
  /** from the request to the first byte of the reply */
  readonly ttfbMs: number;
  /** Resolves with the body; undefined when it is too large or broken, so that its connection cannot be used again. */
  readonly body: Promise<string | undefined>;
}
/** A connection to the server. */
export interface Reached {
  /** ms until the core took the connection */
  readonly connectMs: number;
  /** ms until TLS to the server was established; undefined without TLS */
  readonly tlsMs: number | undefined;
  readonly isOpen: boolean;
  /** One request after another. */
  ask(): Promise<Asked>;
}

const MOST_HEADER = 16 * 1024;
const MOST_BODY = 64 * 1024;

class Late extends Error {
  override readonly name = 'Late';
}

export const since = (start: number): number => Math.round(performance.now() - start);

/** Resolves with a connection to the server behind the outbound; the core has answered, not yet the server. */
function tunnel({ socket, login, url }: Target, opened: (connection: Socket) => void): Promise<Socket> {
  const place = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  return new Promise((resolve, reject) => {
    const connection = connect({ path: socket });
    opened(connection);
    let head = '';
    const fail = (error: Error): void => {
      reject(error);
      connection.destroy();
    };
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) {
        if (head.length > MOST_HEADER) fail(new Error('the core sent no reply'));
        return;
      }
      connection.pause();
      connection.off('data', onData);
      if (!/^HTTP\/1\.\d 200/.test(head)) fail(new Error(`the core answered ${head.slice(0, 40)}`));
      else {
        const rest = Buffer.from(head.slice(end + 4), 'latin1');
        if (rest.length > 0) connection.unshift(rest);
        resolve(connection);
      }
    };
    connection.on('data', onData);
    connection.on('error', reject);
    connection.on('close', () => reject(new Error('the core closed the connection')));
    connection.write(
      `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\nProxy-Authorization: Basic ${Buffer.from(login).toString('base64')}\r\n\r\n`,
    );
  });
}

function secured(connection: Socket, { url, ca }: Target): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const name = url.hostname.replace(/^\[|\]$/g, '');
    const tls = connectTls({
      socket: connection,
      ...(isIP(name) === 0 && { servername: name }),
      host: name,
      ...(ca !== undefined && { ca }),
      ALPNProtocols: ['http/1.1'],
    });
    tls.once('secureConnect', () => resolve(tls));
    tls.on('error', reject);
    tls.once('close', () => reject(new Error('the connection was closed before TLS was established')));
  });
}

function ask(agent: Agent, url: URL): Promise<Asked> {
  return new Promise((resolve, reject) => {
    let sent = performance.now();
    const call = request(
      {
        agent,
        method: 'GET',
        host: url.hostname,
        path: `${url.pathname}${url.search}`,
        headers: { host: url.host, accept: '*/*', 'user-agent': 'Weir' },
        maxHeaderSize: MOST_HEADER,
      },
      (reply) => resolve({ status: reply.statusCode ?? 0, ttfbMs: since(sent), body: bodyOf(reply) }),
    );
    // It was paused while nobody listened.
    call.on('socket', (stream) => stream.resume());
    call.on('finish', () => (sent = performance.now()));
    call.on('error', reject);
    call.end();
  });
}

function bodyOf(reply: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    reply.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MOST_BODY) reply.destroy();
    });
    reply.on('error', () => resolve(undefined));
    reply.on('close', () => resolve(reply.complete ? Buffer.concat(chunks).toString() : undefined));
  });
}

/** Connects, lets `work` ask, and closes everything. What `work` awaits `inTime` rejects when the time is over; `failureText` says it in a sentence. */
export async function reach<T>(
  target: Target,
  signal: AbortSignal,
  work: (reached: Reached, inTime: <R>(part: Promise<R>) => Promise<R>) => Promise<T>,
): Promise<T> {
  const open: Socket[] = [];
  let cancel = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    const { url, limit } = target;
    const timer = setTimeout(
      () => reject(new Late(`no reply of ${url.host} within ${limit / 1000} s`)),
      limit,
    );
    const onAbort = (): void => reject(new Error('the test was stopped'));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    cancel = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  over.catch(() => undefined);
  const inTime = <R>(part: Promise<R>): Promise<R> => {
    part.catch(() => undefined);
    return Promise.race([part, over]);
  };
  try {
    const reached = await inTime(connected(target, (socket) => void open.push(socket)));
    return await work(reached, inTime);
  } finally {
    cancel();
    for (const connection of open) connection.destroy();
  }
}

async function connected(target: Target, opened: (connection: Socket) => void): Promise<Reached> {
  const start = performance.now();
  const { url } = target;
  const connection = await tunnel(target, opened);
  const connectMs = since(start);
  const isTls = url.protocol === 'https:';
  const stream = isTls ? await secured(connection, target) : connection;
  const tlsMs = isTls ? since(start) - connectMs : undefined;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isUsed = false;
  agent.createConnection = (_, created) => {
    // A throw would come out of the close of the first connection, and end the panel.
    if (isUsed) created?.(new Error('the connection was closed'), stream);
    else {
      isUsed = true;
      return stream;
    }
    return undefined;
  };
  return {
    connectMs,
    tlsMs,
    get isOpen() {
      return !stream.destroyed;
    },
    ask: () => ask(agent, url),
  };
}

export function failureText(error: unknown): string {
  if (error instanceof Late) return error.message;
  const code = (error as { readonly code?: string }).code ?? '';
  if (['ECONNRESET', 'EPIPE'].includes(code) || /closed/.test(messageOf(error)))
    return 'the connection was closed before a reply came';
  return /CERT|TLS|SSL|ERR_/.test(code)
    ? `TLS to the server of the test failed: ${messageOf(error)}`
    : messageOf(error);
}
