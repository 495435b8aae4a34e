// Requests of a hostile caller: over a client where that can send them, over bare sockets where it would refuse.
import { once } from 'node:events';
import { request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { PanelProcess } from '../harness/panel-process.js';

type Headers = Readonly<Record<string, string>>;

/** Who gets no answer in this time is not waited for. */
const PATIENCE_MS = 60_000;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Statuses with how many of each came: `200`, `413 ×6`. */
export function tally(statuses: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => (count === 1 ? status : `${status} ×${count}`)).join(', ');
}

export class Caller {
  readonly #panel: PanelProcess;
  /** ids of the panel's inbounds */
  readonly inboundIds: readonly number[];
  /** of the panel's clients */
  readonly emails: readonly string[];

  constructor(panel: PanelProcess, inboundIds: readonly number[], emails: readonly string[]) {
    this.#panel = panel;
    this.inboundIds = inboundIds;
    this.emails = emails;
  }

  get panelUrl(): URL {
    return new URL(this.#panel.url);
  }
  get subUrl(): URL {
    return new URL(this.#panel.ready.subUrl);
  }
  /** Cookie and token of the admin. */
  get login(): Headers {
    return { cookie: this.#panel.cookie, 'x-csrf-token': this.#panel.csrf };
  }

  /** One request to the panel; resolves with its status. POST when there is a body. */
  http(path: string, body?: string | Buffer, headers: Headers = {}, url = this.panelUrl): Promise<string> {
    return new Promise((resolve) => {
      const method = body === undefined ? 'GET' : 'POST';
      const type = body === undefined ? {} : { ...JSON_TYPE, 'content-length': Buffer.byteLength(body) };
      const { hostname, port } = url;
      const options = {
        hostname,
        port,
        path,
        method,
        agent: false,
        headers: { ...type, ...headers },
        maxHeaderSize: 65_536,
      };
      const request = send(options, (response) => {
        response.resume().once('close', () => resolve(String(response.statusCode)));
      });
      request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'cut off'));
      request.setTimeout(PATIENCE_MS, () => request.destroy());
      request.end(body);
    });
  }

  /** As the admin; what is no text or bytes is sent as JSON. */
  admin(path: string, body?: unknown, headers: Headers = {}): Promise<string> {
    const text =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return this.http(path, text, { ...this.login, ...headers });
  }

  /** Bytes on a socket of their own; resolves with the status of the first answer, or how it ended without one. */
  async raw(bytes: string | Buffer, { url = this.panelUrl, wait = 2000 } = {}): Promise<string> {
    const socket: Socket = connect(Number(url.port), url.hostname);
    const heard = new Promise<string>((resolve) => {
      socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1', 9, 12)));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'cut off'));
      socket.once('close', () => resolve('closed'));
      setTimeout(resolve, wait, 'no answer').unref();
    });
    await once(socket, 'connect').catch(() => undefined);
    socket.write(bytes);
    const answer = await heard;
    socket.destroy();
    return answer;
  }

  async times(count: number, one: (n: number) => Promise<string>): Promise<string> {
    return tally(await Promise.all(Array.from({ length: count }, (_, n) => one(n))));
  }
}
