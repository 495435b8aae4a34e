// Connections that leave HTTP: a plugin takes over the socket of a request with `Upgrade: websocket`. This file decides,
// for all of them, who may connect: only a login session that may read there, and no page of another site.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { isSameOrigin } from '../../net/same-origin.js';
import type { Principal } from '../auth/principal.js';
import type { SessionStore } from '../auth/session.js';
import type { SessionCookieNames } from '../auth/session-cookie.js';
import { type Contributed, extensionPoint } from '../container/token.js';
import { isPanelError, kernelErrors, type PanelError } from '../errors/errors.js';
import { PluginError } from '../plugin/error.js';
import type { Owner } from '../plugin/owner.js';
import type { Permit, Permits } from './permits.js';
import { refuseOnSocket } from './socket-reply.js';
import { strayPath } from './table.js';

export interface Upgraded {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** bytes that came after the request */
  readonly head: Buffer;
  readonly who: Principal;
  /** Aborts when the session ends (401), may no longer have the connection (403) or the panel stops (503), with that PanelError as reason; a moment later the connection is cut. */
  readonly signal: AbortSignal;
}
export interface Upgrade {
  /** below the base path, without a final slash */
  readonly path: string;
  /** Takes the connection over. A PanelError refuses it with a reply, unless something was written already. */
  readonly open: (connection: Upgraded) => void;
}
/** Endpoints for upgraded connections, beside the routes of the panel's listener. */
export const Upgrades = extensionPoint<Upgrade>('kernel', 'upgrades', ({ path, open }, plugin) =>
  typeof path === 'string' && typeof open === 'function'
    ? strayPath(plugin, path)
    : 'it needs a path and a function open',
);

interface Parts {
  readonly sessions: SessionStore;
  readonly cookies: SessionCookieNames;
  readonly basePath: () => string;
  readonly requireHost: (request: IncomingMessage) => void;
  readonly requestId: (request: IncomingMessage) => string;
}
interface Handler extends Upgrade {
  readonly owner: Owner;
  readonly permit: Permit | undefined;
}
interface Open {
  readonly session: string;
  readonly who: Principal;
  readonly handler: Handler;
  readonly socket: Duplex;
  readonly controller: AbortController;
}
/** How long a plugin may take to close a connection. */
const GRACE_MS = 500;

export class UpgradeServer {
  readonly #parts: Parts;
  readonly #open = new Set<Open>();
  #closed = false;
  readonly #handlers = new Map<string, Handler>();

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.sessions.onEnd(() => this.askAgain());
  }

  /** Ends the connections that their callers may no longer have. */
  askAgain(): void {
    for (const connection of this.#open)
      try {
        const { session, who, handler } = connection;
        if (!this.#parts.sessions.isLive(session)) throw kernelErrors.UNAUTHORIZED('the session has ended');
        handler.permit?.(who);
      } catch (error) {
        this.#end(connection, error as PanelError);
      }
  }

  /** Endpoints in `upgrades` that this plugin added. */
  mount(owner: Owner, upgrades: readonly Contributed<Upgrade>[], permits?: Permits): void {
    for (const { value } of upgrades.filter(({ plugin }) => plugin === owner.name)) {
      const taken = this.#handlers.get(value.path);
      if (taken)
        throw new PluginError(
          `the plugins ${taken.owner.name} and ${owner.name} both serve connections at ${value.path}`,
        );
      const permit = permits?.of(owner.name, { method: 'GET', path: value.path });
      this.#handlers.set(value.path, { ...value, owner, permit });
    }
  }

  /** Never throws: no caller could reply. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Without a listener, the error of one connection crashes the process.
    socket.on('error', () => socket.destroy());
    try {
      this.#admit(request, socket, head);
    } catch (error) {
      if (isPanelError(error)) refuseOnSocket(socket, error, true, this.#parts.requestId(request));
      else socket.destroy();
    }
  }

  #admit(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = (request.url ?? '').replace(/\?.*$/s, '').replace(/\/$/, '');
    const base = this.#parts.basePath();
    const handler = path.startsWith(base) ? this.#handlers.get(path.slice(base.length - 1)) : undefined;
    if (!handler || request.method !== 'GET') throw kernelErrors.NOT_FOUND();
    this.#parts.requireHost(request);
    const session = this.#parts.sessions.find(this.#parts.cookies.idIn(request.headers.cookie));
    if (!session) throw kernelErrors.UNAUTHORIZED('log in first: this connection needs the session cookie');
    // Browsers always send the origin. Other programs send no cookies of a browser's user.
    const { origin, 'sec-fetch-site': site } = request.headers;
    if ((origin !== undefined || site !== undefined) && !isSameOrigin(request.headers))
      throw kernelErrors.ORIGIN();
    const who = { name: session.userName, kind: 'session', session: session.digest };
    const { owner, open, permit } = handler;
    permit?.(who);
    if (this.#closed) throw kernelErrors.PLUGIN_OFF('the panel is stopping');
    if (owner.isOff) throw kernelErrors.PLUGIN_OFF(owner.offReason);

    const connection = { session: who.session, who, handler, socket, controller: new AbortController() };
    this.#open.add(connection);
    socket.once('close', () => this.#open.delete(connection));
    (socket as Duplex & { setTimeout?: (ms: number) => void }).setTimeout?.(0);
    const failed = (error: unknown): void => owner.fault(`connection at ${path}`, error);
    try {
      const { signal } = connection.controller;
      const opened: unknown = open({ request, socket, head, who, signal });
      if (opened instanceof Promise)
        opened.catch((error: unknown) => {
          failed(error);
          socket.destroy();
        });
    } catch (error) {
      if (!isPanelError(error)) failed(error);
      throw error;
    }
  }

  #end({ controller, socket }: Open, reason: PanelError): void {
    if (controller.signal.aborted) return;
    controller.abort(reason);
    const cut = setTimeout(() => socket.destroy(), GRACE_MS);
    socket.once('close', () => clearTimeout(cut));
  }

  /** Closes all connections; they are gone within the grace period. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#open)
      this.#end(connection, kernelErrors.PLUGIN_OFF('the panel is stopping'));
  }
}
