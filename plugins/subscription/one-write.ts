// Sends a reply as one string in one write. Node's own `end` passes head, body and an empty rest to the socket as three
// parts of a gathered write, which costs a quarter of a whole request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FixedHeaders } from './headers.js';

/** Undocumented internals of Node's response. If they differ, every reply takes the ordinary way. */
interface Inner {
  _header?: string | null;
  _headerSent?: boolean;
  readonly shouldKeepAlive?: boolean;
}
const STATUS = 'HTTP/1.1 200 OK\r\n';

export interface Answer {
  readonly fixed: FixedHeaders;
  readonly own: readonly string[];
  readonly body: string;
}

/** Once a second Node itself writes the head of a reply; its last headers (date, connection) are reused for the other replies of that second. */
export class OneWrite {
  #second = 0;
  #tail: string | undefined;
  readonly #waiting: { readonly response: ServerResponse; readonly text: string }[] = [];
  /** Replies of one turn of the event loop are sent together: each write wakes the reader and waits for that. */
  readonly #flush = (): void => {
    for (const { response, text } of this.#waiting.splice(0)) {
      response.socket?.write(text, 'latin1');
      response.end();
    }
  };

  /** Sends a reply with status 200 to a GET. */
  send(request: IncomingMessage, response: ServerResponse, { fixed, own, body }: Answer, now: number): void {
    const { socket } = response;
    const inner = response as Inner;
    const length = Buffer.byteLength(body);
    // All ASCII, so characters are bytes; Node sends Latin-1 faster.
    const plain = length === body.length;
    const usual =
      plain &&
      socket?.writable === true &&
      request.httpVersion === '1.1' &&
      inner.shouldKeepAlive === true &&
      inner._headerSent === false;
    const second = Math.floor(now / 1000);
    if (usual && this.#tail !== undefined && second === this.#second) {
      let head = STATUS + fixed.text;
      for (let i = 0; i < own.length; i += 2) head += `${own[i]}: ${own[i + 1]}\r\n`;
      inner._header = STATUS;
      inner._headerSent = true;
      if (
        this.#waiting.push({ response, text: `${head}Content-Length: ${length}${this.#tail}${body}` }) === 1
      )
        setImmediate(this.#flush);
      return;
    }
    response.writeHead(200, [...fixed.list, ...own, 'Content-Length', String(length)]);
    if (usual) this.#learn(inner._header, `Content-Length: ${length}`, second);
    response.end(body, plain ? 'latin1' : 'utf8');
  }

  /** Only for a head with the expected headers; any other takes the ordinary way. */
  #learn(head: string | null | undefined, last: string, second: number): void {
    const at = head?.startsWith(STATUS) ? head.indexOf(`\r\n${last}\r\n`) : -1;
    const tail = at < 0 ? '' : head?.slice(at + 2 + last.length);
    this.#tail = tail?.endsWith('\r\n\r\n') && tail.includes('\r\nDate: ') ? tail : undefined;
    this.#second = second;
  }
}
