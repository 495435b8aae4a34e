// The endpoint for plain WebSockets, `/ws`.
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { PanelError, Principal, Upgrade, Upgraded } from '../../kernel/index.js';
import type { Connections } from './connections.js';
import type { Reader } from './reader-queue.js';
import type { ReaderMessages } from './reader-messages.js';
import type { Rights } from './rights.js';
import type { Stream } from './stream.js';

/** Bytes of a message from a reader: it names a log. */
export const LONGEST_INCOMING = 4096;
/** the code of a service that restarts: come back, perhaps to another panel */
const SERVICE_RESTART = 1012;
/** Close codes of applications begin at 4000; the HTTP status is added. */
const closeCode = (status: number): number => (status < 500 ? 4000 + status : SERVICE_RESTART);

export class WebSocketEndpoint {
  readonly #stream: Stream;
  readonly #connections: Connections;
  readonly #rights: Rights;
  readonly #messages: ReaderMessages;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: LONGEST_INCOMING,
    perMessageDeflate: false,
    clientTracking: false,
  });
  /** Whether each connection has answered since the last ping. */
  readonly #heard = new Map<WebSocket, boolean>();
  readonly upgrade: Upgrade = { path: '/ws', open: (connection) => this.#open(connection) };

  constructor({
    stream,
    connections,
    readerRights,
    messages,
  }: { stream: Stream; connections: Connections; readerRights: Rights; messages: ReaderMessages }) {
    this.#stream = stream;
    this.#connections = connections;
    this.#rights = readerRights;
    this.#messages = messages;
  }

  #open({ request, socket, head, signal, who }: Upgraded): void {
    this.#connections.admit(socket);
    this.#server.handleUpgrade(request, socket, head, (connection) =>
      this.#welcome(connection, socket, signal, who),
    );
  }

  #welcome(connection: WebSocket, socket: Duplex, signal: AbortSignal, who: Principal): void {
    const reader: Reader = {
      backlog: () => connection.bufferedAmount,
      mayRead: (type) => this.#rights.mayRead(who, type),
      send: ({ bytes }) => connection.send(bytes, { binary: false }, () => reader.drained?.()),
      cut: () => void socket.destroy(),
    };
    this.#connections.joined(socket);
    this.#heard.set(connection, true);
    // The library closes connections that break the protocol, with the code for the reason.
    connection.on('error', () => undefined);
    connection.on('close', () => {
      this.#heard.delete(connection);
      this.#stream.leave(reader);
      this.#messages.left(reader);
      this.#connections.left(socket);
    });
    connection.on('pong', () => this.#heard.set(connection, true));
    connection.on('message', (data) =>
      this.#messages.take(reader, () => JSON.parse(String(data)) as unknown),
    );
    signal.addEventListener('abort', () => {
      const { status, message } = signal.reason as PanelError;
      this.#stream.leave(reader);
      this.#connections.left(socket);
      connection.close(closeCode(status), message);
    });
    void this.#stream.join(reader);
  }

  /** Closes connections that did not answer the last ping, and pings the others. A job calls it. */
  ping(): void {
    for (const [connection, heard] of this.#heard) {
      if (!heard) connection.terminate();
      else {
        this.#heard.set(connection, false);
        connection.ping();
      }
    }
  }
}
