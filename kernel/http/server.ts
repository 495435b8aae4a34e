// A listener: one HTTP server with its routes. Its Express app creates requests and responses with Express's prototypes
// from the start, which saves swapping two prototypes per request (measured: 2.8 times the throughput).
import { once } from 'node:events';
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import express, { type Express, type Request, type Response } from 'express';
import { kernelErrors, messageOf } from '../errors/errors.js';
import type { Certificate } from '../../net/certificate.js';
import type { Pipeline } from './pipeline.js';
import { PathRouter } from '../../net/path-router.js';
import { portHolder } from '../../net/port-holder.js';
import type { Mounted } from './table.js';
import { asksForWebSocket, withoutUpgrade } from '../../net/websocket.js';
import { isAnswering, refuseOnSocket, unreadable } from './socket-reply.js';

/** Answers some requests before Express; true means it did. Synchronous, and false whenever it is not sure. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ListenerOptions {
  readonly name: string;
  readonly pipeline: Pipeline;
  /** with a certificate it serves HTTPS */
  readonly certificate?: Certificate | undefined;
  /** how long a connection with a request under way may be idle */
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
  /** Each reply closes its connection, so that callers open their next one elsewhere. */
  isLeaving = false;

  constructor(options: ListenerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#server = this.#serve(express().set('query parser', 'simple'));
  }

  /** Only the requests and responses of Express are used, with its additions to them; routing is not. */
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
      // Node 24.9 and later call this; earlier versions accept every offer, and onUpgrade handles that.
      shouldUpgradeCallback: (request: IncomingMessage) => this.#upgrades && asksForWebSocket(request),
    };
    const answer = ((request: Request, response: Response): void => {
      request.res = response;
      if (this.isLeaving) response.shouldKeepAlive = false;
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
    // HEAD is GET; Node omits the body.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const found = this.#router.find(method, request.url);
    if (!found) throw this.#options.pipeline.missing(request.path);
    request.params = found.params;
    void found.target(request, response);
  }

  /** Replaces the route table; requests under way finish with the old one. */
  mount(routes: readonly Mounted[]): void {
    const router = new PathRouter<Handler>();
    for (const { owner, route, path } of routes)
      router.add(route.method, path, this.#options.pipeline.handler(owner, route));
    this.#router = router;
  }

  /** Serves everything below this path, which begins and ends with a slash. */
  mountAt(basePath: string): void {
    this.#basePath = basePath;
  }
  get basePath(): string {
    return this.#basePath;
  }

  /** Sends requests for a WebSocket to this handler from now on, with their connection. */
  onUpgrade(take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
    this.#upgrades = true;
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (asksForWebSocket(request)) return take(request, socket, head);
      socket.unshift(withoutUpgrade(request, head));
      this.#server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
    });
  }

  /** From now on, closes each connection that `admits` rejects, before anything of it is read. */
  admitOnly(admits: (socket: Socket) => boolean): void {
    this.#server.on('connection', (socket: Socket) => {
      if (!admits(socket)) socket.destroy();
    });
  }

  get isOpen(): boolean {
    return this.#server.listening;
  }

  /** Resolves with the bound port; rejects with a sentence that names address, cause and fix. `portVariable` sets the port. */
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

  /** Uses the current certificate for new connections; open ones keep theirs. */
  renew(): void {
    const pem = this.#options.certificate?.pem;
    if (pem) Object.assign(this.#server as SecureServer, pem).setSecureContext(pem);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** Accepts no new connections, lets requests under way finish for a moment, then closes the rest. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const impatience = setTimeout(() => this.#server.closeAllConnections(), 2000);
    await closed;
    clearTimeout(impatience);
  }
}
