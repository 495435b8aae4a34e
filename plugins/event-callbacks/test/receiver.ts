// A program elsewhere that takes callbacks, for tests.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

export interface Received {
  readonly id: string;
  readonly seconds: number;
  readonly signature: string;
  readonly body: string;
  readonly json: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}
type Reply = (received: Received, reply: ServerResponse, request: IncomingMessage) => void;

export class Receiver {
  readonly received: Received[] = [];
  /** what it does with each; replies 204 by default */
  reply: Reply = (_, reply) => void reply.writeHead(204).end();
  readonly #server = createServer((request, reply) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const header = (name: string) => String(request.headers[name] ?? '');
      const received = {
        id: header('webhook-id'),
        seconds: Number(header('webhook-timestamp')),
        signature: header('webhook-signature'),
        body,
        json: JSON.parse(body) as Received['json'],
      };
      this.received.push(received);
      this.reply(received, reply, request);
    });
    request.on('error', () => undefined);
  });

  static async start(port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }
  types(): string[] {
    return this.received.map(({ json }) => json.type);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close').catch(() => undefined);
  }
}

/** Written after the specification, and not after the code. */
export const isSigned = ({ id, seconds, signature, body }: Received, secret: string): boolean =>
  signature.split(' ').includes(
    `v1,${createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
      .update(`${id}.${seconds}.${body}`)
      .digest('base64')}`,
  );

/** The client of an event. */
export const clientOf = (json: Received['json'] | undefined): Record<string, unknown> =>
  (json?.data['client'] ?? {}) as Record<string, unknown>;
