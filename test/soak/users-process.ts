// Users who move bytes through the panel's core to a server on loopback, and know how many. A connection lives for some
// exchanges, then the user opens another.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadPart, type Seen, serve, Tally } from './child.js';
import { readExactly } from './read-exactly.js';
import { type ManyUsers, startManyUsers } from './client-core.js';

export interface UsersStart {
  readonly binary: string;
  /** one for each user */
  readonly links: readonly string[];
}
export interface Moved {
  readonly up: number;
  readonly down: number;
}
export interface UsersSeen {
  /** bytes so far, in the order of the links */
  readonly moved: readonly Moved[];
}

const MOST_UP = 8 * 1024;
/** The core's trojan outbound breaks now and then when the first chunk of a connection is large. */
const MOST_FIRST = 256;
const MOST_DOWN = 32 * 1024;
const PAUSE_MS = 500;
const MOST_EXCHANGES = 60;
const HEAD = 4;
const LIMIT_MS = 60_000;
const random = (most: number): number => 1 + Math.floor(Math.random() * most);

/** Each request says how long it is itself and how long the reply must be. */
async function reply(socket: Socket): Promise<void> {
  for (;;) {
    const head = await readExactly(socket, 2 * HEAD, LIMIT_MS);
    await readExactly(socket, head.readUInt32BE(0), LIMIT_MS);
    socket.write(Buffer.alloc(head.readUInt32BE(HEAD), 0x64));
  }
}

class Users implements LoadPart<UsersStart> {
  readonly #tally = new Tally();
  readonly #moved: { up: number; down: number }[] = [];
  readonly #server = createServer((socket) => {
    socket.on('error', () => undefined);
    // It ends when the user's connection does.
    reply(socket).catch(() => socket.destroy());
  });
  #core: ManyUsers | undefined;
  #lives: Promise<void>[] = [];
  #isOver = false;

  async start({ binary, links }: UsersStart): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#core = await startManyUsers(binary, links);
    const { port } = this.#server.address() as AddressInfo;
    this.#lives = links.map((_, n) => this.#live(n, port));
  }

  async #live(n: number, port: number): Promise<void> {
    const moved = { up: 0, down: 0 };
    this.#moved[n] = moved;
    await sleep(Math.random() * PAUSE_MS);
    while (!this.#isOver) {
      const socket = await this.#core?.connect(n, port).catch((error: Error) => this.#failed(n, error));
      if (!socket) {
        await sleep(PAUSE_MS);
        continue;
      }
      socket.on('error', () => undefined);
      let exchanges = 0;
      try {
        for (const most = random(MOST_EXCHANGES); exchanges < most && !this.#isOver; exchanges++) {
          await this.#exchange(socket, moved, exchanges === 0 ? MOST_FIRST : MOST_UP);
          await sleep(PAUSE_MS);
        }
        socket.end();
      } catch (error) {
        this.#failed(n, new Error(`after ${exchanges} exchanges ${(error as Error).message}`));
        socket.destroy();
      }
    }
  }

  async #exchange(socket: Socket, moved: { up: number; down: number }, mostUp: number): Promise<void> {
    const began = performance.now();
    const [up, down] = [random(mostUp), random(MOST_DOWN)];
    const bytes = Buffer.alloc(2 * HEAD + up, 0x75);
    bytes.writeUInt32BE(up, 0);
    bytes.writeUInt32BE(down, HEAD);
    moved.up += bytes.length;
    socket.write(bytes);
    await readExactly(socket, down, LIMIT_MS);
    moved.down += down;
    this.#tally.did(performance.now() - began);
  }

  #failed(n: number, error: Error): undefined {
    this.#tally.failed(`user ${n}: ${error.message}`);
    return undefined;
  }

  tell(): Seen & UsersSeen {
    return { ...this.#tally.take(), moved: this.#moved };
  }

  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lives);
    await sleep(PAUSE_MS);
    await this.#core?.stop();
    this.#server.close();
  }
}

serve(new Users());
