// A way to the tests' MariaDB that can be closed, and a user of it that a read-only server refuses.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createConnection } from 'mysql2/promise';
import type { Teardown } from '../engine/core-panel.js';

export class DatabaseProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #port: number;
  /** each socket with the one that gets its bytes */
  readonly #pairs: Map<Socket, Socket>;
  readonly #commits: { lost: number };

  private constructor(server: Server, target: URL, pairs: Map<Socket, Socket>, commits: { lost: number }) {
    this.#server = server;
    this.#commits = commits;
    this.#pairs = pairs;
    this.#port = (server.address() as AddressInfo).port;
    const own = new URL(target);
    own.port = String(this.#port);
    this.url = own.href;
  }

  /** Passes connections on to the database at `url` until the test is over. */
  static async open(t: Teardown, url: string): Promise<DatabaseProxy> {
    const target = new URL(url);
    const pairs = new Map<Socket, Socket>();
    const commits = { lost: 0 };
    const server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        pairs.set(socket, other);
        socket.pipe(other);
        socket.once('error', () => other.destroy());
        socket.once('close', () => (pairs.delete(socket), other.destroy()));
      }
      near.on('data', (sent: Buffer) => {
        if (commits.lost === 0 || !sent.includes('COMMIT')) return;
        commits.lost -= 1;
        far.unpipe(near).once('data', () => near.destroy());
        far.resume();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new DatabaseProxy(server, target, pairs, commits);
    t.teardown(() => proxy.close());
    return proxy;
  }

  /** Breaks all connections and refuses new ones. */
  close(): void {
    this.#server.close();
    for (const socket of this.#pairs.keys()) socket.destroy();
  }

  /** The server gets the next commits, and their connections end instead of its answer. */
  loseAnswers(commits: number): void {
    this.#commits.lost = commits;
  }

  /** No byte passes any more, and no connection ends. */
  freeze(): void {
    for (const socket of this.#pairs.keys()) socket.pause().unpipe();
  }

  thaw(): void {
    for (const [socket, other] of this.#pairs) if (!socket.destroyed) socket.pipe(other);
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
  }
}

async function onServer(url: string, ...statements: readonly string[]): Promise<void> {
  const connection = await createConnection(url);
  try {
    for (const statement of statements) await connection.query(statement);
  } finally {
    await connection.end();
  }
}

/** The same address for a user without rights on the server itself, who exists until the test is over. */
export async function plainUser(t: Teardown, url: string): Promise<string> {
  const own = new URL(url);
  own.username = `plain_${randomBytes(6).toString('hex')}`;
  own.password = randomBytes(12).toString('hex');
  const user = `${own.username}@'127.0.0.1'`;
  await onServer(
    url,
    `CREATE USER ${user} IDENTIFIED BY '${own.password}'`,
    `GRANT ALL ON ${own.pathname.slice(1)}.* TO ${user}`,
  );
  t.teardown(() => onServer(url.replace(/\/[^/]*$/, '/'), `DROP USER ${user}`));
  return own.href;
}

/** The rights of the tests' own user let it write all the same. */
export const setReadOnly = (url: string, on: boolean): Promise<void> =>
  onServer(url.replace(/\/[^/]*$/, '/'), `SET GLOBAL read_only = ${on ? 1 : 0}`);
