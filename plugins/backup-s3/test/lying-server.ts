// A small server with the API of S3 that stores what it gets, or lies about it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface Behaviour {
  /** instead of storing: the status that a PUT gets */
  put?: number | 'hang' | 'nothing' | 'truncate' | 'other' | 'cut';
  get?: number | 'hang' | 'endless' | 'other range' | 'huge error';
  list?: number | 'endless' | 'junk' | 'huge';
}

export class LyingServer {
  readonly objects = new Map<string, Buffer>();
  readonly calls: string[] = [];
  behaviour: Behaviour = {};
  /** bytes of replies without an end */
  sent = 0;
  readonly #server: Server;
  #uploads = new Map<string, Map<number, Buffer>>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(t: ExecutionContext): Promise<LyingServer> {
    const server = createServer();
    const lying = new LyingServer(server);
    server.on('request', (request, response) => void lying.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return lying;
  }

  /** Uploads in parts that are neither complete nor aborted: their parts cost money. */
  get openUploads(): number {
    return this.#uploads.size;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x');
    const key = decodeURIComponent(url.pathname.replace(/^\/bucket\/?/, ''));
    this.calls.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    switch (request.method) {
      case 'PUT':
        return this.#put(key, body, url, response);
      case 'POST':
        return this.#post(key, url, response);
      case 'DELETE':
        if (url.searchParams.has('uploadId')) this.#uploads.delete(url.searchParams.get('uploadId') ?? '');
        else this.objects.delete(key);
        return void response.writeHead(204).end();
      default:
        return key === '' ? this.#list(url, response) : this.#get(key, request, response);
    }
  }

  #put(key: string, body: Buffer, url: URL, response: ServerResponse): void {
    const { put } = this.behaviour;
    if (put === 'hang') return;
    if (put === 'cut') return void response.destroy();
    if (typeof put === 'number') return void error(response, put);
    let stored: Buffer | undefined = body;
    if (put === 'nothing') stored = undefined;
    if (put === 'truncate') stored = body.subarray(0, body.length - 1);
    if (put === 'other') stored = Buffer.concat([body.subarray(0, -1), Buffer.from([0x55])]);
    const upload = url.searchParams.get('uploadId');
    if (upload !== null && stored)
      this.#uploads.get(upload)?.set(Number(url.searchParams.get('partNumber')), stored);
    else if (stored) this.objects.set(key, stored);
    response.writeHead(200, { ETag: '"0"' }).end();
  }

  #post(key: string, url: URL, response: ServerResponse): void {
    const upload = url.searchParams.get('uploadId');
    response.setHeader('content-type', 'application/xml');
    if (upload === null) {
      this.#uploads.set('1', new Map());
      return void response.end(
        `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    const parts = [...(this.#uploads.get(upload) ?? [])].sort(([a], [b]) => a - b);
    this.#uploads.delete(upload);
    if (parts.length > 0) this.objects.set(key, Buffer.concat(parts.map(([, part]) => part)));
    response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
  }

  #get(key: string, request: IncomingMessage, response: ServerResponse): void {
    const { get } = this.behaviour;
    if (get === 'hang') return;
    if (typeof get === 'number') return void error(response, get);
    if (get === 'huge error') return void this.#endless(response, 403);
    if (get === 'endless') {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once('drain', more);
      };
      return void more();
    }
    const object = this.objects.get(key);
    if (!object) return void error(response, 404, 'NoSuchKey');
    const [, from = '0', to = '0'] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
    const start = get === 'other range' ? Number(from) + 1 : Number(from);
    const slice = object.subarray(start, Math.min(Number(to) + 1, object.length));
    response
      .writeHead(206, { 'content-range': `bytes ${start}-${start + slice.length - 1}/${object.length}` })
      .end(slice);
  }

  /** Junk without an end; `sent` counts what the client took. */
  #endless(response: ServerResponse, status: number): void {
    response.writeHead(status, { 'content-type': 'application/xml' });
    const more = (): void => {
      while (!response.destroyed && response.write('<a>b</a>'.repeat(8_192))) this.sent += 65_536;
      response.once('drain', more);
    };
    more();
  }

  #list(url: URL, response: ServerResponse): void {
    const { list } = this.behaviour;
    if (typeof list === 'number') return void error(response, list);
    if (list === 'huge') return void this.#endless(response, 200);
    const prefix = url.searchParams.get('prefix') ?? '';
    const names = [...this.objects].filter(([key]) => key.startsWith(prefix));
    const contents = names.map(
      ([key, { length }]) => `<Contents><Key>${key}</Key><Size>${length}</Size></Contents>`,
    );
    if (list === 'junk')
      contents.push(
        '<Contents><Key>../../etc/passwd</Key><Size>-5</Size></Contents>',
        `<Contents><Key>${prefix}weir_2026-01-01_000000.db</Key><Size>1</Size></Contents>`,
        `<Contents><Key>${prefix}weir_2026-01-01_000000.db.json</Key><Size>1</Size></Contents>`,
      );
    const next =
      list === 'endless'
        ? `<NextContinuationToken>${Math.random()}</NextContinuationToken><IsTruncated>true</IsTruncated>`
        : '';
    response.setHeader('content-type', 'application/xml');
    response.end(`<ListBucketResult>${contents.join('')}${next}</ListBucketResult>`);
  }
}

function error(response: ServerResponse, status: number, code = 'X'): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>the password is hunter2</Message></Error>`);
}
