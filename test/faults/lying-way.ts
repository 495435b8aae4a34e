// A way between a panel and its core: it passes calls on, or answers them as no core should.
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';

/** Answers a call in place of the core; `path` is that of gRPC. False: the core answers. */
export type Lie = (path: string, stream: ServerHttp2Stream) => boolean;

export class LyingWay {
  lie: Lie = () => false;
  /** calls that were answered in place of the core */
  lies = 0;
  readonly #server: Http2Server;
  readonly #core: ClientHttp2Session;
  readonly #sessions = new Set<{ destroy(): void }>();

  private constructor(core: string) {
    this.#core = connect('http://localhost', { createConnection: () => connectSocket(core) });
    this.#core.on('error', () => undefined);
    this.#server = createServer();
    this.#server.on('session', (session) => this.#sessions.add(session));
    this.#server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      if (this.lie(String(headers[':path']), stream)) this.lies++;
      else this.#pass(stream, headers);
    });
  }

  /** @param socket of a core whose panel is gone; the next panel finds this way there */
  static async open(socket: string): Promise<LyingWay> {
    await rename(socket, `${socket}.core`);
    const way = new LyingWay(`${socket}.core`);
    way.#server.listen(socket);
    await once(way.#server, 'listening');
    return way;
  }

  close(): void {
    this.#server.close();
    this.#core.destroy();
    for (const session of this.#sessions) session.destroy();
  }

  #pass(stream: ServerHttp2Stream, headers: object): void {
    const onward = this.#core.request({ ...headers });
    stream.pipe(onward);
    let trailers = {};
    onward.on('trailers', (those) => (trailers = those));
    onward.on('response', (those) => {
      if (stream.destroyed) return;
      stream.respond({ ...those }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', ...clean(trailers) }));
      onward.pipe(stream);
    });
    onward.on('error', () => stream.close());
    stream.on('close', () => onward.close());
  }
}

const clean = (headers: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name.startsWith(':') ? [] : [[name, String(value)]])),
  );

/** A reply with this message. */
export function reply(
  stream: ServerHttp2Stream,
  message: Uint8Array,
  trailers = { 'grpc-status': '0' },
): void {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(Buffer.concat([prefix, message]));
}

/** An integer as protobuf writes it; one below zero has ten bytes. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** xray.app.stats.command.QueryStatsResponse */
export const statsOf = (counters: readonly (readonly [name: string, value: bigint])[]): Buffer =>
  Buffer.concat(
    counters.map(([name, value]) => {
      const text = Buffer.from(name);
      const stat = Buffer.concat([
        Buffer.from([0x0a]),
        varint(BigInt(text.length)),
        text,
        Buffer.from([0x10]),
        varint(value),
      ]);
      return Buffer.concat([Buffer.from([0x0a]), varint(BigInt(stat.length)), stat]);
    }),
  );
