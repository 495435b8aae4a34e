// Many stand-ins for nodes in a process of their own, each on a port, over HTTPS; they note what their central costs them.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { StandIn } from './stand-in.js';

export interface StandInsStart {
  readonly count: number;
  readonly cert: string;
  readonly key: string;
  /** `obj` of a status of a real panel, and the headers that came with it */
  readonly status: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
}
/** Of one node, since it was last asked. */
export interface NodeSeen {
  /** by path, without the part that all have */
  readonly requests: Readonly<Record<string, number>>;
  /** bytes of both directions, TLS included */
  readonly bytes: number;
  readonly connections: number;
  /** ms between heartbeats: the longest */
  readonly longestGap: number;
  /** bytes of the largest request body */
  readonly largestBody: number;
  readonly live: number;
  readonly sum: number;
  /** Unix ms of the last `apply` */
  readonly appliedAt: number;
}
export type Question =
  | { readonly start: StandInsStart }
  | { readonly tell: true }
  /** those from `from` on, so many, are away or back */
  | { readonly away: boolean; readonly from: number; readonly count: number }
  | { readonly use: number };

const LEAST_GZIP = 1_400;

class Node {
  readonly standIn: StandIn;
  readonly server: Server;
  port = 0;
  readonly #sockets = new Set<Socket>();
  #closed = 0;
  #told = 0;
  #requests: Record<string, number> = {};
  #connections = 0;
  #lastBeat = 0;
  #longestGap = 0;
  #largestBody = 0;
  #appliedAt = 0;

  constructor({ cert, key, status, headers }: StandInsStart) {
    this.standIn = new StandIn(status);
    this.server = createServer({ cert, key }, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'https://node');
      const name = pathname.replace('/panel/api/', '').replace('x/node/', '');
      this.#requests[name] = (this.#requests[name] ?? 0) + 1;
      if (name === 'server/status') this.#beat();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const sent = Buffer.concat(chunks);
        this.#largestBody = Math.max(this.#largestBody, sent.length);
        if (name === 'apply') this.#appliedAt = Date.now();
        const raw = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
        const body: unknown = raw.length > 0 ? JSON.parse(raw.toString()) : undefined;
        const { status: code, envelope } = this.standIn.answer(pathname, searchParams, body);
        const text = Buffer.from(JSON.stringify(envelope));
        // As a panel does.
        const isPacked = text.length >= LEAST_GZIP && /gzip/.test(request.headers['accept-encoding'] ?? '');
        const reply = isPacked ? gzipSync(text, { level: 1 }) : text;
        const own = { 'content-length': reply.length, ...(isPacked && { 'content-encoding': 'gzip' }) };
        response.writeHead(code, { ...headers, ...own });
        response.end(reply);
      });
    });
    // Bytes on the wire are those of the socket below TLS.
    this.server.on('connection', (socket: Socket) => {
      this.#connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => {
        this.#closed += socket.bytesRead + socket.bytesWritten;
        this.#sockets.delete(socket);
      });
    });
    this.server.keepAliveTimeout = 65_000;
  }

  async listen(port = 0): Promise<void> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  async leave(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  #beat(): void {
    const now = Date.now();
    if (this.#lastBeat > 0) this.#longestGap = Math.max(this.#longestGap, now - this.#lastBeat);
    this.#lastBeat = now;
  }

  tell(): NodeSeen {
    let all = this.#closed;
    for (const { bytesRead, bytesWritten } of this.#sockets) all += bytesRead + bytesWritten;
    const seen = {
      requests: this.#requests,
      bytes: all - this.#told,
      connections: this.#connections,
      longestGap: this.#longestGap,
      largestBody: this.#largestBody,
      live: this.standIn.live.length,
      sum: this.standIn.sum,
      appliedAt: this.#appliedAt,
    };
    this.#told = all;
    this.#requests = {};
    this.#connections = 0;
    this.#longestGap = 0;
    this.#largestBody = 0;
    return seen;
  }
}

let nodes: Node[] = [];

async function answer(question: Question): Promise<unknown> {
  if ('start' in question) {
    nodes = Array.from({ length: question.start.count }, () => new Node(question.start));
    for (const node of nodes) await node.listen();
    return nodes.map(({ port }) => port);
  }
  if ('away' in question) {
    for (const node of nodes.slice(question.from, question.from + question.count))
      await (question.away ? node.leave() : node.listen(node.port));
    return true;
  }
  if ('use' in question) {
    for (const node of nodes) node.standIn.use(question.use);
    return true;
  }
  return nodes.map((node) => node.tell());
}

process.on('message', (question: Question) => void answer(question).then((told) => process.send?.(told)));
process.once('disconnect', () => process.exit());
