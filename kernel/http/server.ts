// A listener: one HTTP server with its routes. Its Express app hands out requests and responses whose prototypes are
// Express's own from birth, which saves the swap of two prototypes per request (measured: 2.8 times the throughput).
import { once } from 'node:events';
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import express, { type Express, type Request, type Response } from 'express';
import { kernelErrors, messageOf } from '../errors/errors.js';
import type { Certificate } from './certificate.js';
import type { Pipeline } from './pipeline.js';
import { PathRouter } from '../../net/path-router.js';
import { portHolder } from '../../net/port-holder.js';
import type { Mounted } from './table.js';
import { asksForWebSocket, withoutUpgrade } from '../../net/websocket.js';
import { isAnswering, refuseOnSocket, unreadable } from './socket-reply.js';

/** What may answer before Express; true means that it did. Synchronous, and never for what it is not sure of. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ListenerOptions {
  readonly name: string;
  readonly pipeline: Pipeline;
  /** with one it speaks HTTPS */
  readonly certificate?: Certificate | undefined;
  /** what a path without a route answers */
  readonly missing?: (path: string) => Error;
  /** how long nothing may happen on a connection with a request under way */
  readonly silenceMs?: number;
}

const SILENCE_MS = 30_000;

type Handler = ReturnType<Pipeline['handler']>;

export class Listener {
  readonly name: string;
  readonly #options: ListenerOptions;
  readonly #server: Server;
  #router = new PathRouter<Handler>();
  #basePath = '/';
  #upgrades = false;
  intercept: Intercept | undefined;

  constructor(options: ListenerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#server = this.#serve(express().set('query parser', 'simple'));
  }

  /** Of Express there are the requests and responses, with what it adds to them; which route a request is for is not its business. */
  #serve(app: Express): Server {
    class PanelRequest extends IncomingMessage {}
    class PanelResponse extends ServerResponse {}
    Object.setPrototypeOf(PanelRequest.prototype, app.request);
    Object.setPrototypeOf(PanelResponse.prototype, app.response);
    app.request = PanelRequest.prototype as unknown as Request;
    app.response = PanelResponse.prototype as unknown as Response;
    const classes = {
      IncomingMessage: PanelRequest as typeof IncomingMessage,
      ServerResponse: PanelResponse as unknown as typeof ServerResponse,
      // Node 24.9 and later ask; earlier ones take every offer for accepted, and onUpgrade has to put that right.
      shouldUpgradeCallback: (request: IncomingMessage) => this.#upgrades && asksForWebSocket(request),
    };
    const answer = ((request: Request, response: Response): void => {
      request.res = response;
      try {
        if (!this.intercept?.(request, response)) this.#answer(request, response);
      } catch (error) {
        this.#options.pipeline.fail(error, request, response, () => undefined);
      }
    }) as RequestListener;
    const { certificate } = this.#options;
    const server = certificate
      ? createSecureServer({ ...classes, ...certificate.pem, handshakeTimeout: 10_000 }, answer)
      : createServer(classes, answer);
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) socket.destroy(error);
      else refuseOnSocket(socket, unreadable(error.code), this.#options.pipeline.hasEnvelopes);
    });
    server.headersTimeout = 10_000;
    server.requestTimeout = 120_000;
    server.keepAliveTimeout = 65_000;
    server.setTimeout(this.#options.silenceMs ?? SILENCE_MS);
    return server;
  }

  #answer(request: Request, response: Response): void {
    if (!request.url.startsWith(this.#basePath)) throw kernelErrors.NOT_FOUND();
    request.url = request.url.slice(this.#basePath.length - 1);
    // HEAD is GET; Node leaves the body out.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const found = this.#router.find(method, request.url);
    if (!found) throw this.#options.missing?.(request.path) ?? kernelErrors.NOT_FOUND();
    request.params = found.params;
    void found.target(request, response);
  }

  /** Puts a new table in place of the old one; requests under way finish on the old. */
  mount(routes: readonly Mounted[]): void {
    const router = new PathRouter<Handler>();
    for (const { owner, route, path } of routes)
      router.add(route.method, path, this.#options.pipeline.handler(owner, route));
    this.#router = router;
  }

  /** Everything is served below this path, which begins and ends with a slash. */
  mountAt(basePath: string): void {
    this.#basePath = basePath;
  }
  get basePath(): string {
    return this.#basePath;
  }

  /** From now on requests for a WebSocket go here, with their connection. */
  onUpgrade(take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
    this.#upgrades = true;
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (asksForWebSocket(request)) return take(request, socket, head);
      socket.unshift(withoutUpgrade(request, head));
      this.#server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
    });
  }

  /** Closes from now on, before anything of it is read, each connection that `admits` says no to. */
  admitOnly(admits: (socket: Socket) => boolean): void {
    this.#server.on('connection', (socket: Socket) => {
      if (!admits(socket)) socket.destroy();
    });
  }

  get isOpen(): boolean {
    return this.#server.listening;
  }

  /** Resolves with the port that was bound; rejects with a sentence that names address, culprit and way out. `portVariable` sets the port. */
  async listen(host: string, port: number, portVariable?: string): Promise<number> {
    this.#server.listen(port, host);
    try {
      await once(this.#server, 'listening');
      return this.port;
    } catch (cause) {
      let why = messageOf(cause);
      if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') {
        const holder = (await portHolder(port)) ?? 'another program';
        why = `${holder} listens there; stop it or choose another port${portVariable ? ` with ${portVariable}` : ''}`;
      }
      throw new Error(`the ${this.name} listener cannot use ${host}:${port}: ${why}`, { cause });
    }
  }

  /** New connections get the certificate that is there now; those that are open go on with theirs. */
  renew(): void {
    const { certificate } = this.#options;
    if (certificate) (this.#server as SecureServer).setSecureContext(certificate.pem);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** Takes no new connections, lets requests under way finish for a moment, then ends what is left. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const impatience = setTimeout(() => this.#server.closeAllConnections(), 2000);
    await closed;
    clearTimeout(impatience);
  }
}
