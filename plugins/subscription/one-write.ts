// Sends a reply as one string in one write. Node's own `end` passes head, body and an empty rest to the socket as three
// parts of a gathered write, which costs a quarter of a whole request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FixedHeaders } from './headers.js';

const STATUS_LINES = { 200: 'HTTP/1.1 200 OK\r\n', 304: 'HTTP/1.1 304 Not Modified\r\n' } as const;

export interface Answer {
  readonly fixed: FixedHeaders;
  readonly own: readonly string[];
  readonly body: string;
}

/** Once a second Node itself writes the head of a reply; its last headers (date, connection) are reused for the other replies of that second. */
export class OneWrite {
  #second = 0;
  #tail: string | undefined;
  /** Node takes the event `finish` for the end of a reply, whoever wrote it. */
  #ends = true;
  readonly #waiting: { readonly response: ServerResponse; readonly text: string }[] = [];
  /** Replies of one turn of the event loop are sent together: each write wakes the reader and waits for that. */
  readonly #flush = (): void => {
    for (const { response, text } of this.#waiting.splice(0)) {
      const { socket } = response;
      // It was closed meanwhile.
      if (!socket) continue;
      socket.write(text, 'latin1');
      response.emit('finish');
      if (!response.socket) continue;
      // A later version of Node may need more than that: then it writes all other replies itself.
      this.#ends = false;
      socket.destroySoon();
    }
  };

  /** Sends a reply to a GET: 200 with the body, or 304 without. */
  send(
    request: IncomingMessage,
    response: ServerResponse,
    status: keyof typeof STATUS_LINES,
    { fixed, own, body }: Answer,
    now: number,
  ): void {
    const { socket } = response;
    const length = Buffer.byteLength(body);
    const isWhole = status === 200;
    // All ASCII, so characters are bytes; Node sends Latin-1 faster.
    const plain = !isWhole || length === body.length;
    const usual =
      plain &&
      this.#ends &&
      socket?.writable === true &&
      request.httpVersion === '1.1' &&
      response.shouldKeepAlive &&
      !response.headersSent;
    const second = Math.floor(now / 1000);
    if (usual && this.#tail !== undefined && second === this.#second) {
      let text = STATUS_LINES[status] + fixed.text;
      for (let i = 0; i < own.length; i += 2) text += `${own[i]}: ${own[i + 1]}\r\n`;
      text += isWhole ? `Content-Length: ${length}${this.#tail}${body}` : this.#tail.slice(2);
      if (this.#waiting.push({ response, text }) === 1) setImmediate(this.#flush);
      return;
    }
    const list = [...fixed.list, ...own, ...(isWhole ? ['Content-Length', String(length)] : [])];
    response.writeHead(status, list);
    if (usual) this.#learn(socket, status, `\r\n${list.at(-2)}: ${list.at(-1)}`, second);
    if (isWhole) response.end(body, plain ? 'latin1' : 'utf8');
    else response.end();
  }

  /** Looks at the next text that Node writes to this connection. A head without the expected headers is of no use. */
  #learn(socket: Socket, status: keyof typeof STATUS_LINES, last: string, second: number): void {
    const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
    this.#second = second;
    this.#tail = undefined;
    socket.write = (...given: unknown[]): boolean => {
      delete (socket as { write?: unknown }).write;
      const [text] = given;
      const head = typeof text === 'string' ? text.slice(0, text.indexOf('\r\n\r\n') + 4) : '';
      const at = head.startsWith(STATUS_LINES[status]) ? head.indexOf(`${last}\r\n`) : -1;
      const tail = at < 0 ? '' : head.slice(at + last.length);
      if (tail.includes('\r\nDate: ')) this.#tail = tail;
      return write(...given);
    };
  }
}
