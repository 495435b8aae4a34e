// A source of geodata: files with ETag, Last-Modified and digests, and what a bad one may send.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from '../../../test/engine/core-panel.js';

export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

export type Reply = (request: IncomingMessage, response: ServerResponse) => void;

export class SourceServer {
  readonly #replies = new Map<string, Reply>();
  /** method, path and status, in the order of the requests */
  readonly served: string[] = [];
  url = '';

  static async open(t: Teardown): Promise<SourceServer> {
    const source = new SourceServer();
    const server = createServer((request, response) => {
      response.on('close', () => source.served.push(`${request.url} ${response.statusCode}`));
      const reply = source.#replies.get(request.url ?? '');
      if (reply) reply(request, response);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    source.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    t.teardown(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return source;
  }

  /** The setting for these files of the server. */
  sources(...names: string[]): Record<string, string> {
    return Object.fromEntries(names.map((name) => [name, `${this.url}/${name}`]));
  }

  set(path: string, reply: Reply | undefined): void {
    if (reply) this.#replies.set(path, reply);
    else this.#replies.delete(path);
  }

  /** Serves a file that may be asked for by its mark. `digest` is published beside it; empty: none is. */
  file(name: string, content: Buffer, { digest = sha256(content), mark = 'etag' } = {}): void {
    const etag = `"${sha256(content).slice(0, 16)}"`;
    const lastModified = new Date(1_700_000_000_000 + content.length * 1000).toUTCString();
    this.set(`/${name}`, (request, response) => {
      const isKnown =
        mark === 'etag'
          ? request.headers['if-none-match'] === etag
          : request.headers['if-modified-since'] === lastModified;
      const headers = mark === 'etag' ? { etag } : { 'last-modified': lastModified };
      if (isKnown) response.writeHead(304, headers).end();
      else response.writeHead(200, headers).end(content);
    });
    this.set(
      `/${name}.sha256sum`,
      digest === '' ? undefined : (_, response) => void response.end(`${digest}  ${name}\n`),
    );
  }
}
