// Programs that read subscriptions, and browsers that keep a socket open: what they are told may be late, and is never wrong.
import { Agent, get } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { pace } from '../soak/child.js';

const FETCH_LIMIT_MS = 5_000;
const AGAIN_MS = 1_000;
const SILENT_MS = 15_000;

export interface Fetched {
  done: number;
  failed: number;
  /** a subscription of another client, or none although the client is there */
  readonly wrong: string[];
  readonly latencies: number[];
}

/** Fetches at a steady rate. `urls` name a client each, with what its subscription must have. */
export function fetches(
  urls: () => readonly { readonly url: string; readonly has: string }[],
  perSecond: number,
): { readonly seen: Fetched; end(): Promise<void> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const seen: Fetched = { done: 0, failed: 0, wrong: [], latencies: [] };
  const one = (url: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve) => {
      const request = get(url, { agent, timeout: FETCH_LIMIT_MS }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
        response.once('error', () => resolve({ status: 0, text: '' }));
      });
      request.once('timeout', () => request.destroy());
      request.once('error', () => resolve({ status: 0, text: '' }));
    });
  const paced = pace(perSecond, async (n) => {
    const all = urls();
    const wanted = all[n % Math.max(1, all.length)];
    if (!wanted) return;
    const began = performance.now();
    const { status, text } = await one(wanted.url);
    if (status === 200) {
      seen.done++;
      seen.latencies.push(performance.now() - began);
      if (!Buffer.from(text, 'base64').toString().includes(wanted.has))
        seen.wrong.push(`${wanted.url} lacks ${wanted.has}`);
    } else if (status === 0 || status >= 500) seen.failed++;
    else seen.wrong.push(`${wanted.url}: ${status} ${text.slice(0, 100)}`);
  });
  return {
    seen,
    async end() {
      await paced.stop();
      agent.destroy();
    },
  };
}

export class Sockets {
  readonly #url: string;
  readonly #cookie: () => string;
  #isOver = false;
  readonly #lives: Promise<void>[];
  readonly #open = new Set<WebSocket>();
  messages = 0;
  connections = 0;
  readonly wrong: string[] = [];

  constructor(url: string, cookie: () => string, count: number) {
    this.#url = `${url.replace('http', 'ws')}/ws`;
    this.#cookie = cookie;
    this.#lives = Array.from({ length: count }, (_, n) => this.#live(n));
  }

  async #live(n: number): Promise<void> {
    while (!this.#isOver) {
      await this.#connection(n).catch(() => undefined);
      await sleep(AGAIN_MS);
    }
  }

  async #connection(n: number): Promise<void> {
    const socket = new WebSocket(this.#url, {
      headers: { cookie: this.#cookie() },
      handshakeTimeout: FETCH_LIMIT_MS,
    });
    socket.on('error', () => undefined);
    this.#open.add(socket);
    let last: number | undefined;
    let silence: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => socket.terminate(), SILENT_MS);
    };
    heard();
    socket.once('open', () => (this.connections += 1));
    socket.on('message', (data: Buffer) => {
      heard();
      const { seq } = JSON.parse(data.toString()) as { seq?: number };
      this.messages += 1;
      if (seq === undefined) return;
      if (last !== undefined && seq <= last)
        this.wrong.push(`socket ${n}: message ${seq} came after ${last}`);
      last = seq;
    });
    await once(socket, 'close');
    clearTimeout(silence);
    this.#open.delete(socket);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const socket of this.#open) socket.terminate();
    await Promise.all(this.#lives);
  }
}
