// A Redis of its own for a test: in memory, on a loopback port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';

const START_LIMIT_MS = 20_000;

export class RedisServer {
  readonly port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  /** Rejects where the program is missing; `npm test` installs it for files that say `// Runs Redis`. */
  static async start(): Promise<RedisServer> {
    const missing = process.env['WEIR_TEST_REDIS_MISSING'];
    if (missing) throw new Error(missing);
    const server = new RedisServer(await freePort());
    await server.resume();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again on the same port, empty. */
  async resume(): Promise<void> {
    const child = spawn(
      'redis-server',
      ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    );
    this.#child = child;
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
    await Promise.race([this.#answers(), failed]);
    failed.catch(() => undefined);
  }

  async #answers(): Promise<void> {
    for (const deadline = Date.now() + START_LIMIT_MS; ; await sleep(50)) {
      const isThere = await new Promise<boolean>((resolve) => {
        const socket = createConnection({ host: '127.0.0.1', port: this.port })
          .once('connect', () => {
            socket.destroy();
            resolve(true);
          })
          .once('error', () => resolve(false));
      });
      if (isThere) return;
      if (Date.now() > deadline) throw new Error('redis-server does not answer');
    }
  }

  /** Ends it; what it has is gone. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
