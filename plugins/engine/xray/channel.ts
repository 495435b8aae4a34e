// Calls of gRPC with one message each way, over HTTP/2 on a Unix socket: all that the core's API needs. A library for all
// of gRPC takes three times the CPU for a call and leaves so much behind that the heap is a third larger (docs/benchmarks.md).
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { STATUS } from './status.js';

/** 100,000 counters are 10 MiB. */
const RECEIVE_LIMIT = 256 << 20;
/** Bytes on the way before the core waits for our word; by itself HTTP/2 has 64 KiB. */
const WINDOW = 1 << 20;
/** of a message: one byte that says whether it is packed, and four with its length */
const PREFIX = 5;
const RETRY_MS = 50;

/** A call that failed; `details` is what the core said. */
export class CallError extends Error {
  readonly code: number;
  readonly details: string;

  constructor(code: number, details: string, options?: ErrorOptions) {
    super(details, options);
    this.code = code;
    this.details = details;
  }
}

export interface CallOptions {
  /** ms */
  readonly timeout: number;
  /** Try again until somebody listens on the socket. */
  readonly waitForReady?: boolean;
}

type Headers = Readonly<Record<string, unknown>>;

/** Texts come with characters beyond ASCII as %E2%80%A6. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX);
  return frame;
}

/** The message of a whole reply. */
function messageIn(parts: readonly Buffer[], size: number): Buffer {
  const [first] = parts;
  const reply = parts.length === 1 && first ? first : Buffer.concat(parts, size);
  if (size < PREFIX || reply[0] !== 0 || reply.readUInt32BE(1) !== size - PREFIX)
    throw new CallError(STATUS.UNAVAILABLE, 'the reply is not one whole message');
  return reply.subarray(PREFIX);
}

/** What trailers, or headers without a message, say; undefined where they have no status. */
function statusIn(headers: Headers): CallError | typeof STATUS.OK | undefined {
  const status = headers['grpc-status'];
  if (status === undefined) return undefined;
  if (status === '0') return STATUS.OK;
  return new CallError(Number(status) || STATUS.UNKNOWN, unescaped(String(headers['grpc-message'] ?? '')));
}

const away = (cause?: unknown): CallError =>
  new CallError(
    STATUS.UNAVAILABLE,
    cause instanceof Error ? cause.message : 'the connection ended before the reply',
    { cause },
  );

export class Channel {
  readonly #socket: string;
  #session: ClientHttp2Session | undefined;
  #calls = 0;
  #isClosed = false;

  /** @param socket path of a Unix socket; connected to at the first call, and again after the connection is lost */
  constructor(socket: string) {
    this.#socket = socket;
  }

  /** Calls under way fail. */
  close(): void {
    this.#isClosed = true;
    this.#session?.destroy();
  }

  /** Calls under way fail; the next one connects again. */
  reconnect(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.destroy();
  }

  /** Resolves with the message of the reply, rejects with a CallError. */
  async call(path: string, message: Uint8Array, options: CallOptions): Promise<Buffer> {
    const deadline = Date.now() + options.timeout;
    for (;;) {
      try {
        return await this.#once(path, message, Math.max(deadline - Date.now(), 1));
      } catch (error) {
        const isAway = error instanceof CallError && error.code === STATUS.UNAVAILABLE;
        if (!options.waitForReady || !isAway || this.#isClosed || Date.now() + RETRY_MS >= deadline)
          throw error;
      }
      await sleep(RETRY_MS);
    }
  }

  #connected(): ClientHttp2Session {
    const current = this.#session;
    if (current && !current.closed && !current.destroyed) return current;
    const session = connect('http://localhost', {
      createConnection: () => connectSocket(this.#socket),
      // Else Node refuses calls while long replies wait to be read.
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
      settings: { enablePush: false, initialWindowSize: WINDOW },
    });
    const forget = (): void => {
      if (this.#session === session) this.#session = undefined;
    };
    session.once('connect', () => session.setLocalWindowSize(WINDOW));
    // Its calls fail by themselves.
    session.on('error', forget).on('close', forget).on('goaway', forget);
    // Between calls it keeps no process alive.
    session.unref();
    this.#session = session;
    return session;
  }

  #once(path: string, message: Uint8Array, timeout: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new CallError(STATUS.UNAVAILABLE, 'the channel is closed');
      const session = this.#connected();
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        'grpc-timeout': `${timeout}m`,
      });
      if (this.#calls++ === 0) session.ref();
      const parts: Buffer[] = [];
      let size = 0;
      let status: CallError | typeof STATUS.OK | undefined;
      let isOver = false;
      const end = (outcome: CallError | typeof STATUS.OK): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        if (--this.#calls === 0 && !session.destroyed) session.unref();
        try {
          if (outcome !== STATUS.OK) throw outcome;
          resolve(messageIn(parts, size));
        } catch (error) {
          reject(error);
        }
      };
      const giveUp = (code: number, reason: string): void => {
        end(new CallError(code, reason));
        stream.close(constants.NGHTTP2_CANCEL);
      };
      const timer = setTimeout(
        () => giveUp(STATUS.DEADLINE_EXCEEDED, `no reply within ${timeout} ms`),
        timeout,
      );
      stream.on('response', (headers) => {
        status = statusIn(headers);
        if (headers[':status'] !== 200 && status === undefined)
          giveUp(STATUS.UNAVAILABLE, `it answers with the HTTP status ${headers[':status']}`);
      });
      stream.on('trailers', (trailers) => {
        status = statusIn(trailers);
      });
      stream.on('data', (part: Buffer) => {
        size += part.length;
        if (size <= RECEIVE_LIMIT) parts.push(part);
        else giveUp(STATUS.RESOURCE_EXHAUSTED, `the reply has more than ${RECEIVE_LIMIT} bytes`);
      });
      stream.on('error', (error: unknown) => end(away(error)));
      stream.on('close', () => end(status ?? away()));
      stream.end(framed(message));
    });
  }
}
