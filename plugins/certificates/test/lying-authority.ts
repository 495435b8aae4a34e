// Stands before a real authority and changes what it answers.
import { createServer, request, type Server } from 'node:https';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { selfSigned } from '../../../test/harness/self-signed.js';
import type { Pebble } from './pebble.js';

export interface Reply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}
/** What a call is about, by its path at Pebble. */
export type Step =
  | 'directory'
  | 'nonce'
  | 'account'
  | 'order'
  | 'my-order'
  | 'authorization'
  | 'challenge'
  | 'finalize'
  | 'certificate'
  | 'other';
/** Returns another reply, `hang`, or nothing for the true one. */
export type Lie = (step: Step, reply: Reply, calls: number) => Partial<Reply> | 'hang' | undefined;

const STEPS: readonly (readonly [RegExp, Step])[] = [
  [/^\/dir/, 'directory'],
  [/^\/nonce/, 'nonce'],
  [/^\/sign-me-up|^\/my-account/, 'account'],
  [/^\/order-plz/, 'order'],
  [/^\/my-order/, 'my-order'],
  [/^\/authZ/, 'authorization'],
  [/^\/chalZ/, 'challenge'],
  [/^\/finalize-order/, 'finalize'],
  [/^\/certZ/, 'certificate'],
];
export const problem = (
  type: string,
  detail: string,
  status = 403,
  headers: OutgoingHttpHeaders = {},
): Reply => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail, status }),
});

export class LyingAuthority {
  readonly #pebble: Pebble;
  readonly #server: Server;
  readonly #pair = selfSigned();
  lie: Lie = () => undefined;
  /** steps in their order */
  readonly steps: Step[] = [];

  private constructor(pebble: Pebble) {
    this.#pebble = pebble;
    this.#server = createServer({ cert: this.#pair.cert, key: this.#pair.key }, (asked, answer) => {
      void this.#serve(asked, answer).catch(() => answer.destroy());
    });
  }
  static async start(pebble: Pebble): Promise<LyingAuthority> {
    const authority = new LyingAuthority(pebble);
    authority.#server.listen(0, '127.0.0.1');
    await once(authority.#server, 'listening');
    return authority;
  }

  get origin(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  get settings(): Record<string, unknown> {
    return {
      ...this.#pebble.settings,
      acmeDirectory: `${this.origin}/dir`,
      acmeAuthorities: this.#pair.cert,
    };
  }

  async #serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const step = STEPS.find(([path]) => path.test(asked.url ?? ''))?.[1] ?? 'other';
    this.steps.push(step);
    let sent = '';
    for await (const chunk of asked as AsyncIterable<Buffer>) sent += String(chunk);
    const truth = await this.#ask(asked, sent);
    const told = this.lie(step, truth, this.steps.filter((one) => one === step).length);
    if (told === 'hang') return;
    const { status, headers, body } = { ...truth, ...told };
    const all = Object.entries({ ...truth.headers, ...headers }).filter(
      ([name, value]) => value !== undefined && !/^(?:content-length|transfer-encoding)$/.test(name),
    );
    answer.writeHead(status, Object.fromEntries(all)).end(asked.method === 'HEAD' ? undefined : body);
  }

  /** With the host that was asked for, so that the URLs in the reply lead back here. */
  #ask({ url = '/', method = 'GET', headers }: IncomingMessage, body: string): Promise<Reply> {
    const { hostname, port } = new URL(this.#pebble.directory);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          hostname,
          port,
          path: url,
          method,
          ca: this.#pebble.authority,
          agent: false,
          headers: { ...headers, connection: 'close' },
        },
        (reply) => {
          let text = '';
          reply.on('data', (chunk: Buffer) => (text += String(chunk)));
          reply.on('end', () =>
            resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: text }),
          );
        },
      );
      call.on('error', reject).end(body);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
