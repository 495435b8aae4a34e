// Real traffic over loopback: a server that has bytes, a second core as the user's client program, and the way through it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { networkInterfaces } from 'node:os';
import { connect, type AddressInfo, isIPv4, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../../test/harness/free-port.js';
import type { JsonObject } from '../../driver.js';

const HOST = '127.0.0.1';
const START_LIMIT_MS = 30_000;

export { freePort };

export interface ByteServer {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  /** bytes of all request bodies so far */
  readonly received: number;
  /** bytes of all response bodies handed over so far */
  readonly sent: number;
  /** downloads that are under way */
  readonly giving: number;
  stop(): Promise<void>;
}

const BLOCK = Buffer.alloc(64 * 1024, 0x77);
const TICK_MS = 50;
const HEAD_START_MS = 200;

async function* blocks(bytes: number, rate: number): AsyncGenerator<Buffer> {
  const portion = rate > 0 ? Math.min(Math.ceil((rate * TICK_MS) / 1000), BLOCK.length) : BLOCK.length;
  for (let left = bytes; left > 0; ) {
    const size = Math.min(left, portion);
    left -= size;
    yield BLOCK.subarray(0, size);
    if (rate > 0) await sleep((size * 1000) / rate);
  }
}

async function give(
  response: ServerResponse,
  bytes: number,
  rate: number,
  count: (size: number) => void,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
  // A first record that stands alone is what makes Vision hand a connection of TLS 1.3 over.
  response.flushHeaders();
  if ('encrypted' in response.req.socket) await sleep(HEAD_START_MS);
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const block of blocks(bytes, rate)) {
      count(block.length);
      yield block;
    }
  };
  await pipeline(counted, response);
}

/** With `tls`, what goes through the core is TLS 1.3 of the user's own, as nearly all of the web is. */
export interface ByteServerOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** an IPv4 address of this machine; 127.0.0.1 without it. Loopback is out of reach through WireGuard. */
  readonly host?: string;
}

/** The first IPv4 address of this machine that is not loopback. */
export function ownIPv4(): string {
  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal);
  if (!own) throw new Error('this machine has no IPv4 address but loopback');
  return own.address;
}

/** An HTTP server on loopback: `GET /?bytes=N&rate=BYTES_PER_SECOND` gives N bytes (rate 0: as fast as it goes), `POST /` takes any number and answers how many. */
export async function startByteServer({ tls, host = HOST }: ByteServerOptions = {}): Promise<ByteServer> {
  let received = 0;
  let sent = 0;
  let giving = 0;
  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { searchParams } = new URL(incoming.url ?? '/', `http://${HOST}`);
    if (incoming.method === 'GET') {
      giving += 1;
      response.once('close', () => (giving -= 1));
      // a reader that goes away ends the pipeline; that is its right
      give(
        response,
        Number(searchParams.get('bytes') ?? 0),
        Number(searchParams.get('rate') ?? 0),
        (size) => (sent += size),
      ).catch(() => response.destroy());
      return;
    }
    let here = 0;
    incoming.on('data', (chunk: Buffer) => {
      here += chunk.length;
      received += chunk.length;
    });
    incoming.on('end', () => response.end(String(here)));
    incoming.on('error', () => response.destroy());
  };
  const server = (
    tls ? createTlsServer({ ...tls, minVersion: 'TLSv1.3' }, answer) : createServer(answer)
  ).listen(0, host);
  await once(server, 'listening');
  return {
    tls: tls !== undefined,
    host,
    port: (server.address() as AddressInfo).port,
    get received() {
      return received;
    },
    get sent() {
      return sent;
    },
    get giving() {
      return giving;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface ClientCore {
  /** its SOCKS5 port on 127.0.0.1, without login */
  readonly socksPort: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** An outbound as a config file has it, e.g. of protocol vless; or a whole config, whose first inbound speaks SOCKS. */
export type ClientCoreOptions = { readonly binary: string } & (
  | { readonly outbound: JsonObject }
  | { readonly config: JsonObject }
);

/** The same inbounds on ports that are free. */
async function onFreePorts(config: JsonObject, socksPort: number): Promise<JsonObject> {
  const inbounds = await Promise.all(
    (config['inbounds'] as unknown as JsonObject[]).map(async (inbound, i) => ({
      ...inbound,
      port: i === 0 ? socksPort : await freePort(),
    })),
  );
  return { ...config, inbounds };
}

/** Starts a core as a user's program would: SOCKS in, `outbound` out. Not detached, and it reads its config from us, so no file holds a credential. */
export async function startClientCore({ binary, ...how }: ClientCoreOptions): Promise<ClientCore> {
  const socksPort = await freePort();
  const config =
    'config' in how
      ? await onFreePorts(how.config, socksPort)
      : {
          log: { loglevel: 'warning', access: 'none' },
          inbounds: [
            {
              tag: 'socks',
              listen: HOST,
              port: socksPort,
              protocol: 'socks',
              settings: { udp: true, ip: HOST },
            },
          ],
          outbounds: [how.outbound],
        };
  const child = spawn(binary, ['run', '-c', 'stdin:'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.off('exit', endWithUs));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4096)));
  child.stdin.end(JSON.stringify(config));
  await once(child, 'spawn');
  const ended = once(child, 'exit');
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  const stop = async (): Promise<void> => {
    if (running()) child.kill('SIGKILL');
    await ended;
  };
  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await accepts(socksPort))) {
    if (!running() || Date.now() > deadline) {
      await stop();
      throw new Error(`the client core did not start: ${output}`);
    }
    await sleep(20);
  }
  return { socksPort, pid: child.pid ?? 0, stop };
}

/** Whether anybody accepts connections there. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, HOST);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function take(socket: Socket, size: number): Promise<Buffer> {
  for (;;) {
    const chunk = socket.read(size) as Buffer | null;
    if (chunk !== null) return chunk;
    if (socket.readableEnded || socket.destroyed) throw new Error('the proxy closed the connection');
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
}

/** A TCP connection to `host`:`port` through a SOCKS5 server without login (RFC 1928). */
export async function connectThrough(socksPort: number, port: number, host = HOST): Promise<Socket> {
  const socket = connect(socksPort, HOST);
  await once(socket, 'connect');
  try {
    socket.write(Buffer.from([5, 1, 0]));
    if ((await take(socket, 2))[1] !== 0) throw new Error('the proxy wants a login');
    const target = isIPv4(host)
      ? [1, ...host.split('.').map(Number)]
      : [3, host.length, ...Buffer.from(host)];
    socket.write(Buffer.from([5, 1, 0, ...target, port >> 8, port & 255]));
    const reply = await take(socket, 10);
    if (reply[1] !== 0) throw new Error(`the proxy refused, code ${reply[1]}`);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

export interface Transfer {
  readonly socksPort: number;
  readonly server: ByteServer;
  readonly bytes: number;
}

async function exchange(
  { socksPort, server }: Transfer,
  path: string,
  method: string,
  body?: Buffer,
): Promise<IncomingMessage> {
  const raw = await connectThrough(socksPort, server.port, server.host);
  // The certificate is the test's own; who it is matters to nobody here.
  const socket = server.tls ? connectTls({ socket: raw, rejectUnauthorized: false }) : raw;
  // With a body, the server's go-ahead is waited for: the core's trojan outbound breaks when its first chunk is large.
  const outgoing = request({
    path,
    method,
    // A core that sniffs goes where this says.
    host: server.host,
    headers: { connection: 'close', ...(body && { 'content-length': body.length, expect: '100-continue' }) },
    createConnection: () => socket,
  });
  if (body) {
    outgoing.flushHeaders();
    await once(outgoing, 'continue');
  }
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response;
}

/** Downloads from the byte server through the proxy and resolves with the number of bytes that came. `rate` in bytes per second, 0 for full speed. */
export async function download(
  transfer: Transfer & { readonly rate?: number; readonly onBytes?: (soFar: number) => void },
): Promise<number> {
  const response = await exchange(transfer, `/?bytes=${transfer.bytes}&rate=${transfer.rate ?? 0}`, 'GET');
  let soFar = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    soFar += chunk.length;
    transfer.onBytes?.(soFar);
  }
  return soFar;
}

/** Uploads to the byte server through the proxy and resolves with the number of bytes that arrived there. */
export async function upload(transfer: Transfer): Promise<number> {
  const response = await exchange(transfer, '/', 'POST', Buffer.alloc(transfer.bytes, 0x75));
  let answer = '';
  for await (const chunk of response as AsyncIterable<Buffer>) answer += chunk.toString();
  return Number(answer);
}
