// Opens a connection for each request, only to addresses that the guard permits.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Agent as HttpAgent, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { AddressGuard, Resolve } from './address-guard.js';
import { OutgoingError } from './contract.js';
import { type Destination, nameOf } from './destination.js';
import { type ProxyServer, throughProxy } from './proxy.js';

/** How a server is asked who it is, and told who calls. */
export interface Trust {
  /** Any certificate is taken. */
  readonly allowInsecure?: boolean | undefined;
  /** PEM of authorities that are trusted beside the public ones */
  readonly authorities?: string | undefined;
  readonly pinnedSha256?: Uint8Array | undefined;
  readonly clientCertificate?: { readonly cert: string; readonly key: string } | undefined;
}

export interface Way extends Trust {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly proxy: ProxyServer | undefined;
  /** ends an attempt that takes too long */
  readonly signal: AbortSignal;
  /** as the URL has it, without brackets */
  readonly host: string;
  readonly destination: Destination;
}
export type Done = (error: Error | null, socket: Duplex) => void;

/** Checks the address of the socket, not only the answer of the look-up. */
function watched(socket: Socket, { guard, host, destination }: Way): Socket {
  return socket.once('connect', () => {
    try {
      guard.check(host, socket.remoteAddress ?? '', destination.port);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
}

/** Reading all public authorities takes 20 ms, so the last result stays. */
let trusted: { readonly authorities: string; readonly context: SecureContext } | undefined;
function trusting(authorities: string): SecureContext {
  if (trusted?.authorities !== authorities)
    trusted = { authorities, context: createSecureContext({ ca: [...rootCertificates, authorities] }) };
  return trusted.context;
}

const tlsOptions = (way: Way) => {
  const { host, allowInsecure = false, authorities = '', pinnedSha256, clientCertificate } = way;
  return {
    ...(isIP(host) === 0 && { servername: host }),
    ...((allowInsecure || pinnedSha256) && { rejectUnauthorized: false }),
    ...(authorities !== '' && { secureContext: trusting(authorities) }),
    ...clientCertificate,
    ALPNProtocols: ['http/1.1'],
  };
};

/** Ends the connection before anything of the request is sent, as Node does with a certificate that it rejects. */
function pinned(socket: TLSSocket, { pinnedSha256, destination }: Way): TLSSocket {
  if (!pinnedSha256) return socket;
  return socket.prependOnceListener('secureConnect', () => {
    const { raw } = socket.getPeerX509Certificate() ?? {};
    const digest = raw && createHash('sha256').update(raw).digest();
    if (digest && digest.length === pinnedSha256.length && timingSafeEqual(digest, pinnedSha256)) return;
    const shown = digest ? `one with the SHA-256 ${digest.toString('base64')}` : 'none';
    socket.destroy(
      new OutgoingError(
        'certificate',
        `${nameOf(destination)} has another certificate than the pinned one: ${shown}`,
      ),
    );
  });
}

function direct(isSecure: boolean, way: Way): Socket {
  const { guard, resolve, signal, host, destination } = way;
  const { port } = destination;
  if (isIP(host) !== 0) guard.check(host, host, port);
  const place = { host, port, lookup: guard.lookup(resolve, port, signal) };
  return watched(isSecure ? pinned(connectTls({ ...place, ...tlsOptions(way) }), way) : connect(place), way);
}

/** If the proxy takes only addresses, the name is resolved and checked here. */
async function proxied(proxy: ProxyServer, way: Way): Promise<Socket> {
  const { destination, guard, resolve, signal } = way;
  const { host, isAddress, port } = destination;
  // An address in the URL was checked before each request.
  if (isAddress || proxy.kind !== 'socks5') return throughProxy(proxy, destination, signal);
  const address = await new Promise<string>((done, fail) => {
    guard.lookup(resolve, port, signal)(host, { all: false }, (error, found) =>
      error ? fail(error) : done(found as string),
    );
  });
  return throughProxy(proxy, { host: address, isAddress: true, port }, signal);
}

/** Returns a socket at once if there is no proxy: nock passes on calls that it does not answer only in this way. */
export function open(isSecure: boolean, way: Way, done: Done | undefined): Duplex | undefined {
  const { proxy, host } = way;
  if (!proxy) return direct(isSecure, way);
  const wrap = (socket: Socket): Duplex =>
    isSecure ? pinned(connectTls({ socket, host, ...tlsOptions(way) }), way) : socket;
  void proxied(proxy, way)
    .then(wrap)
    .then(
      (socket) => done?.(null, socket),
      (error: Error) => (done as ((error: Error) => void) | undefined)?.(error),
    );
  return undefined;
}

/** Resolves with an open connection. */
export function dial(way: Way): Promise<Socket> {
  if (way.proxy) return proxied(way.proxy, way);
  return new Promise((resolve, reject) => {
    const socket = direct(false, way);
    socket.once('error', reject);
    socket.once('connect', () => {
      if (!socket.destroyed) resolve(socket.off('error', reject));
    });
  });
}

class GuardedHttp extends HttpAgent {
  readonly #way: Way;
  constructor(way: Way) {
    super({ keepAlive: false });
    this.#way = way;
  }
  override createConnection(_: ClientRequestArgs, done?: Done): Duplex | undefined {
    return open(false, this.#way, done);
  }
}

class GuardedHttps extends HttpsAgent {
  readonly #way: Way;
  constructor(way: Way) {
    super({ keepAlive: false });
    this.#way = way;
  }
  override createConnection(_: RequestOptions, done?: Done): Duplex | undefined {
    return open(true, this.#way, done);
  }
}

export const agentOf = (isSecure: boolean, way: Way): HttpAgent =>
  isSecure ? new GuardedHttps(way) : new GuardedHttp(way);
