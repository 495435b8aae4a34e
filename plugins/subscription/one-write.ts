// An answer as one string in one write. Node's own `end` hands head, body and an empty rest to the socket as three parts
// of a gathered write, which costs a quarter of a whole request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FixedHeaders } from './renderer.js';

/** What Node's response goes by, and documents nowhere. Where it is different, every answer goes the ordinary way. */
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

/** Once a second Node writes the head of an answer itself; what it puts at the end (date, connection) serves the others of that second. */
export class OneWrite {
  #second = 0;
  #tail: string | undefined;
  readonly #waiting: { readonly response: ServerResponse; readonly text: string }[] = [];
  /** What one turn of the loop has answered leaves together: a write alone wakes whoever reads, and waits for that each time. */
  readonly #flush = (): void => {
    for (const { response, text } of this.#waiting.splice(0)) {
      response.socket?.write(text, 'latin1');
      response.end();
    }
  };

  /** Answers a GET with 200. */
  send(request: IncomingMessage, response: ServerResponse, { fixed, own, body }: Answer, now: number): void {
    const { socket } = response;
    const inner = response as Inner;
    const length = Buffer.byteLength(body);
    // As many bytes as characters: it is all ASCII, which Node sends faster as Latin-1.
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

  /** Only from a head that looks as ours would; any other leaves the ordinary way. */
  #learn(head: string | null | undefined, last: string, second: number): void {
    const at = head?.startsWith(STATUS) ? head.indexOf(`\r\n${last}\r\n`) : -1;
    const tail = at < 0 ? '' : head?.slice(at + 2 + last.length);
    this.#tail = tail?.endsWith('\r\n\r\n') && tail.includes('\r\nDate: ') ? tail : undefined;
    this.#second = second;
  }
}
