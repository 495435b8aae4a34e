// Stands before a node, and notes what it is sent.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

interface SentChange {
  readonly kind: string;
  readonly id: number;
  readonly version: number;
}

export class CountingProxy {
  readonly #server: Server;
  readonly #target: string;
  /** method and path of each call, in order */
  readonly calls: string[] = [];
  /** `kind.id.version` of each record that was sent, in order */
  readonly records: string[] = [];

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((incoming, response) => void this.#pass(incoming, response));
  }

  static async before(target: string): Promise<CountingProxy> {
    const proxy = new CountingProxy(target);
    await new Promise<void>((done) => void proxy.#server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const path = incoming.url ?? '';
    this.calls.push(`${incoming.method} ${path}`);
    if (path.endsWith('/x/node/apply')) this.#note(body, incoming.headers['content-encoding'] === 'gzip');
    const outgoing = request(
      this.#target + path,
      { method: incoming.method, headers: { ...incoming.headers, connection: 'close' } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => response.destroy());
    outgoing.end(body);
  }

  #note(body: Buffer, isPacked: boolean): void {
    const text = (isPacked ? gunzipSync(body) : body).toString();
    for (const { kind, id, version } of (JSON.parse(text) as { changes: SentChange[] }).changes)
      this.records.push(`${kind}.${id}.${version}`);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
