// Fetches an address through one outbound of a test core, and measures it. Any reply of the server is a success.
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { messageOf } from '../../kernel/index.js';

/** Figures of a fetch, in ms. */
export interface Probed {
  readonly success: boolean;
  readonly delay: number;
  readonly error?: string;
  readonly httpStatus?: number;
  /** until the core took the connection */
  readonly connectMs?: number;
  /** until TLS to the server was established */
  readonly tlsMs?: number;
  /** from the request to the first byte of the reply */
  readonly ttfbMs?: number;
}
export interface Target {
  readonly socket: string;
  /** `<name>:<password>` at the core */
  readonly login: string;
  readonly url: URL;
  /** whether a second request on the same connection gives the delay */
  readonly warm: boolean;
  /** ms for all of it; less in tests */
  readonly limit?: number;
  /** PEM of an authority that is trusted; for tests */
  readonly ca?: string;
}

const LIMIT_MS = 10_000;
const MOST_HEADER = 16 * 1024;
/** A larger reply is not read to its end, so its connection serves no second request. */
const MOST_BODY = 64 * 1024;

class Late extends Error {
  override readonly name = 'Late';
}

const since = (start: number): number => Math.round(performance.now() - start);

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

/** Resolves with the reply's head; `whole` when all of it was read and its connection can be used again. */
function ask(agent: Agent, url: URL): Promise<{ status: number; ttfbMs: number; whole: Promise<boolean> }> {
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
      (reply) => resolve({ status: reply.statusCode ?? 0, ttfbMs: since(sent), whole: readWhole(reply) }),
    );
    // It was paused while nobody listened.
    call.on('socket', (stream) => stream.resume());
    call.on('finish', () => (sent = performance.now()));
    call.on('error', reject);
    call.end();
  });
}

function readWhole(reply: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let size = 0;
    reply.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BODY) reply.destroy();
    });
    reply.on('error', () => resolve(false));
    reply.on('close', () => resolve(reply.complete));
  });
}

/** Never rejects. */
export async function probe(target: Target, signal: AbortSignal): Promise<Probed> {
  const start = performance.now();
  const { limit = LIMIT_MS } = target;
  const open: Socket[] = [];
  let cancel = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    const timer = setTimeout(
      () => reject(new Late(`no reply of ${target.url.host} within ${limit / 1000} s`)),
      limit,
    );
    const onAbort = (): void => reject(new Error('the test was stopped'));
    signal.addEventListener('abort', onAbort, { once: true });
    cancel = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  over.catch(() => undefined);
  try {
    return await measure(target, start, over, open);
  } catch (error) {
    return { success: false, delay: 0, error: failureText(error) };
  } finally {
    cancel();
    for (const connection of open) connection.destroy();
  }
}

async function measure(target: Target, start: number, over: Promise<never>, open: Socket[]): Promise<Probed> {
  const inTime = <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => undefined);
    return Promise.race([work, over]);
  };
  const { url, warm } = target;
  const connection = await inTime(tunnel(target, (socket) => void open.push(socket)));
  const connectMs = since(start);
  const isTls = url.protocol === 'https:';
  const stream = isTls ? await inTime(secured(connection, target)) : connection;
  const tlsMs = since(start) - connectMs;
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
  const { status, ttfbMs, whole } = await inTime(ask(agent, url));
  const cold = since(start);
  const figures = { success: true, httpStatus: status, connectMs, ...(isTls && { tlsMs }), ttfbMs };
  if (!warm) return { ...figures, delay: cold };
  // A server that closes the connection after its reply, or sends more than is read, is measured by its first reply.
  const second = await inTime(
    whole.then((isWhole) => (isWhole && !stream.destroyed ? ask(agent, url) : undefined)),
  ).catch(() => undefined);
  return { ...figures, delay: second?.ttfbMs ?? cold };
}

function failureText(error: unknown): string {
  if (error instanceof Late) return error.message;
  const code = (error as { readonly code?: string }).code ?? '';
  if (['ECONNRESET', 'EPIPE'].includes(code) || /closed/.test(messageOf(error)))
    return 'the connection was closed before a reply came';
  return /CERT|TLS|SSL|ERR_/.test(code)
    ? `TLS to the server of the test failed: ${messageOf(error)}`
    : messageOf(error);
}
