// A listener: one HTTP server with its routes. Its Express app hands out requests and responses whose prototypes are
// Express's own from birth, which saves the swap of two prototypes per request (measured: 2.8 times the throughput).
import { once } from 'node:events';
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import express, { type Express, type Request, type Response, Router } from 'express';
import helmet, { type HelmetOptions } from 'helmet';
import { kernelErrors, messageOf } from '../errors/errors.js';
import type { Certificate } from './certificate.js';
import type { Pipeline } from './pipeline.js';
import { portHolder } from './port-holder.js';
import { type Mounted, PathIndex } from './table.js';
import { asksForWebSocket, withoutUpgrade } from './upgrade.js';

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

/** helmet's headers never depend on the request, so they are computed once: name, value, name, value … */
export function fixedHeaders(options: HelmetOptions): string[] {
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: () => undefined,
  };
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return [...headers].flat();
}

export class Listener {
  readonly name: string;
  readonly #options: ListenerOptions;
  readonly #server: Server;
  #router: Router = Router();
  #index = new PathIndex<Handler>();
  #basePath = '/';
  #upgrades = false;
  intercept: Intercept | undefined;

  constructor(options: ListenerOptions) {
    this.name = options.name;
    this.#options = options;
    const app = express();
    this.#server = this.#serve(app);
    this.#configure(app);
  }

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
      try {
        if (this.intercept?.(request, response)) return;
        // Express would answer OPTIONS by itself, with a list of what is there.
        if (!request.url.startsWith(this.#basePath) || request.method === 'OPTIONS')
          throw kernelErrors.NOT_FOUND();
      } catch (error) {
        this.#fail(error, request, response);
        return;
      }
      request.url = request.url.slice(this.#basePath.length - 1);
      const found = this.#index.find(request.method, request.url);
      if (found) void found.target(Object.assign(request, { params: found.params, res: response }), response);
      else app(request, response);
    }) as RequestListener;
    const { certificate } = this.#options;
    const server = certificate
      ? createSecureServer({ ...classes, ...certificate.pem, handshakeTimeout: 10_000 }, answer)
      : createServer(classes, answer);
    server.headersTimeout = 10_000;
    server.requestTimeout = 120_000;
    server.keepAliveTimeout = 65_000;
    server.setTimeout(this.#options.silenceMs ?? SILENCE_MS);
    return server;
  }

  #configure(app: Express): void {
    app.disable('x-powered-by');
    app.set('etag', false);
    app.set('query parser', 'simple');
    app.set('case sensitive routing', true);
    app.use((request, response, next) => this.#router(request, response, next));
    const { missing = () => kernelErrors.NOT_FOUND() } = this.#options;
    app.use((request: Request, response: Response) => this.#fail(missing(request.path), request, response));
    // A path that cannot be decoded (`/%`) is that of nothing; another answer would tell a right prefix from a wrong one.
    app.use((error: unknown, request: Request, response: Response, _next: unknown) =>
      this.#fail(error instanceof URIError ? kernelErrors.NOT_FOUND() : error, request, response),
    );
  }

  #fail(error: unknown, request: Request, response: Response): void {
    this.#options.pipeline.fail(error, request, response, () => undefined);
  }

  /** Puts a new table in place of the old one; requests under way finish on the old. */
  mount(routes: readonly Mounted[]): void {
    const router = Router({ caseSensitive: true, strict: true });
    const index = new PathIndex<Handler>();
    for (const mounted of routes) {
      const { owner, route, path } = mounted;
      const handler = this.#options.pipeline.handler(owner, route);
      index.add(mounted, handler);
      const method = route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
      router[method](path.replaceAll(/\{([^}]+)\}/g, ':$1'), handler);
    }
    this.#router = router;
    this.#index = index;
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
