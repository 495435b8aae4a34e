// Signed releases on a server of the test: good ones, and all that a source can do wrong.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FORMAT, type Release, type ReleaseFile } from '../release-index.js';
import { newSigningKey, readSigningKey, signatureOf, type SigningKey } from '../signing-key.js';

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');
export type Reply = (request: IncomingMessage, response: ServerResponse) => void;
interface Teardown {
  teardown(close: () => unknown): void;
}

export const newKey = (): SigningKey => readSigningKey(newSigningKey());
export const PLATFORM = `${process.platform}-${process.arch}`;

export function packageFile(bytes: Uint8Array, fields: Partial<ReleaseFile> = {}): ReleaseFile {
  return { platform: PLATFORM, url: 'package.tar.gz', size: bytes.length, sha256: sha256(bytes), ...fields };
}

export const releaseOf = (version: string, bytes: Uint8Array, fields: Partial<Release> = {}): Release => ({
  version,
  channel: 'stable',
  notes: `what is new in ${version}`,
  files: [packageFile(bytes)],
  ...fields,
});

/** Sends a part where the request asks for one. */
export const ranged =
  (bytes: Buffer): Reply =>
  (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': bytes.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    response.end(bytes.subarray(from));
  };

/** Breaks the connection after so many bytes; later, because what a client has not read by then is lost. */
export const cutAfter =
  (bytes: Buffer, count: number): Reply =>
  (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, count), () => setTimeout(() => response.destroy(), 1_000));
  };

export class ReleaseServer {
  readonly key: SigningKey;
  readonly #server: Server;
  readonly #replies = new Map<string, Reply>();
  /** `GET /path`, and the range that was asked for */
  readonly asked: string[] = [];
  #port = 0;
  #number = 0;

  private constructor(key: SigningKey) {
    this.key = key;
    this.#server = createServer((request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      this.asked.push(`${path}${request.headers.range ? ` ${request.headers.range}` : ''}`);
      const reply = this.#replies.get(path);
      if (reply) reply(request, response);
      else response.writeHead(404).end();
    });
  }

  static async open(t: Teardown, key = newKey()): Promise<ReleaseServer> {
    const server = new ReleaseServer(key);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    server.#port = (server.#server.address() as AddressInfo).port;
    t.teardown(() => server.close());
    return server;
  }

  close(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/releases.json`;
  }
  get allowed(): string {
    return `updates=127.0.0.1:${this.#port}`;
  }

  reply(path: string, reply: Reply): void {
    this.#replies.set(path, reply);
  }

  /** Publishes an index. `fields` take the place of its own; `sign` of its signature. */
  publish(
    releases: readonly Release[],
    fields: object = {},
    sign: (bytes: Buffer) => string = (bytes) => signatureOf(bytes, this.key, 'releases of a test'),
  ): Buffer {
    this.#number += 1;
    const index = { format: FORMAT, number: this.#number, createdAt: Date.now(), releases, ...fields };
    const bytes = Buffer.from(JSON.stringify(index));
    this.publishBytes(bytes, sign(bytes));
    return bytes;
  }

  publishBytes(bytes: Buffer, signature: string): void {
    this.reply('/releases.json', (_, response) => void response.end(bytes));
    this.reply('/releases.json.minisig', (_, response) => void response.end(signature));
  }
}
