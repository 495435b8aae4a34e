// Releases of the core on a server of the test: archives with their digests, good and bad ones.
import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assetOf, PROGRAM, thisMachine } from '../../engine/contract.js';
import { type File, zipOf } from '../../engine/install/test/archive.js';
import type { Teardown } from '../../../test/engine/core-panel.js';

const ASSET = assetOf(thisMachine()) ?? '';
export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export type Reply = (response: ServerResponse) => void;

export interface ReleaseOptions {
  /** instead of the archive; its digest is that of the archive */
  readonly archive?: Reply;
  /** how long the archive takes */
  readonly slowMs?: number;
  /** instead of the true digest */
  readonly digest?: string;
  /** of the program in the archive */
  readonly entry?: Partial<File>;
  readonly prerelease?: boolean;
}

const PIECES = 20;

/** Sends bytes in pieces for this long. */
export function slowly(response: ServerResponse, bytes: Buffer, ms: number): void {
  response.writeHead(200, { 'content-length': bytes.length });
  if (ms === 0) return void response.end(bytes);
  const size = Math.ceil(bytes.length / PIECES);
  let at = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(at, at + size));
    at += size;
    if (at < bytes.length && !response.destroyed) return;
    clearInterval(timer);
    response.end();
  }, ms / PIECES);
}

/** A program that reports another version and is the core otherwise. `before` are lines of a shell, for each call. */
export const coreThatSays = (version: string, binary: string, before = ''): string =>
  `#!/bin/sh\nif [ "$1" = version ]; then echo "Xray ${version} (a core of the test)"; exit 0; fi\n${before}\nexec '${binary}' "$@"\n`;

export class ReleaseServer {
  readonly #server: Server;
  readonly #replies = new Map<string, Reply>();
  readonly #list: object[] = [];
  /** paths in the order of the requests */
  readonly asked: string[] = [];
  #port = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '';
      this.asked.push(path);
      if (path === '/releases.json') return void response.end(JSON.stringify(this.#list));
      const reply = this.#replies.get(path);
      if (reply) reply(response);
      else response.writeHead(404).end();
    });
  }

  static async open(t: Teardown): Promise<ReleaseServer> {
    const server = new ReleaseServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    server.#port = (server.#server.address() as AddressInfo).port;
    t.teardown(() => server.close());
    return server;
  }

  close(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  /** of a panel that has this server as its source */
  get env(): Record<string, string> {
    const port = this.#port;
    return {
      WEIR_ENGINE_BIN: '',
      WEIR_ENGINE_URL: `http://127.0.0.1:${port}`,
      WEIR_OUTGOING_ALLOW: `engine-versions=127.0.0.1:${port}`,
    };
  }

  add(version: string, program: Buffer | string, options: ReleaseOptions = {}): void {
    const { archive, slowMs = 0, digest, entry, prerelease = false } = options;
    const zip = zipOf([{ name: PROGRAM, content: program, method: 'stored', ...entry }]);
    const path = `/v${version}/${ASSET}`;
    this.#list.push({ tag_name: `v${version}`, draft: false, prerelease });
    this.#replies.set(path, archive ?? ((response) => slowly(response, zip, slowMs)));
    this.#replies.set(
      `${path}.dgst`,
      (response) => void response.end(`MD5= 00\nSHA2-256= ${digest ?? sha256(zip)}\n`),
    );
  }
}
