// The endpoint for socket.io, `/socket.io`: the same messages, each as an event named after its type. WebSocket only:
// long polling would be a second HTTP server beside ours, with bodies that no route describes.
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server, type Socket } from 'socket.io';
import type { PanelError, Upgrade, Upgraded } from '../../kernel/index.js';
import type { Connections } from './connections.js';
import { LONGEST_INCOMING } from './websocket-endpoint.js';
import type { Reader } from './reader-queue.js';
import type { ReaderMessages } from './reader-messages.js';
import type { Rights } from './rights.js';
import type { Stream } from './stream.js';

/** Internal method of the library that accepts an open connection; its types omit it. */
interface Engine {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}
type Known = Pick<Upgraded, 'socket' | 'signal' | 'who'>;

export class SocketIoEndpoint {
  readonly #stream: Stream;
  readonly #connections: Connections;
  readonly #rights: Rights;
  readonly #messages: ReaderMessages;
  readonly #server: Server;
  readonly #known = new WeakMap<IncomingMessage, Known>();
  readonly upgrade: Upgrade = { path: '/socket.io', open: (connection) => this.#open(connection) };

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
    // The library needs an HTTP server to attach to. This one never listens; connections come from the kernel's.
    this.#server = new Server(createServer(), {
      transports: ['websocket'],
      allowUpgrades: false,
      serveClient: false,
      perMessageDeflate: false,
      maxHttpBufferSize: LONGEST_INCOMING,
      destroyUpgrade: false,
      connectTimeout: 10_000,
      pingInterval: 25_000,
      pingTimeout: 20_000,
    });
    this.#server.on('connection', (socket) => this.#welcome(socket));
  }

  #open({ request, socket, head, signal, who }: Upgraded): void {
    this.#connections.admit(socket);
    this.#known.set(request, { socket, signal, who });
    (this.#server.engine as unknown as Engine).handleUpgrade(request, socket, head);
  }

  #welcome(socket: Socket): void {
    const { conn } = socket;
    const known = this.#known.get(socket.request);
    if (!known) return void socket.disconnect(true);
    // One reader for each connection: a second one would receive every message as well.
    this.#known.delete(socket.request);
    this.#connections.joined(known.socket);
    // The library queues without limit while the connection is busy, and only reports when it has passed the queue on.
    let queued = 0;
    const reader: Reader = {
      backlog: () => queued + known.socket.writableLength,
      mayRead: (type) => this.#rights.mayRead(known.who, type),
      send: ({ packet }) => {
        queued += packet.length;
        conn.write(packet);
      },
      cut: () => void known.socket.destroy(),
    };
    conn.on('drain', () => {
      queued = 0;
      reader.drained?.();
    });
    socket.on('disconnect', () => {
      this.#stream.leave(reader);
      this.#messages.left(reader);
      this.#connections.left(known.socket);
    });
    // The name of the event is the type of the message.
    socket.onAny((type: string, fields: unknown) =>
      this.#messages.take(reader, () =>
        typeof fields === 'object' && fields !== null ? { ...fields, type } : { type },
      ),
    );
    known.signal.addEventListener('abort', () => {
      this.#stream.leave(reader);
      // A client that the server disconnects does not reconnect by itself; after a restart of the panel it does.
      if ((known.signal.reason as PanelError).status < 500) socket.disconnect(true);
      else conn.close();
    });
    void this.#stream.join(reader);
  }
}
