// Users who move bytes all the while through the nodes' cores to a server here, and know what arrived at either end.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ManyUsers, startManyUsers } from '../soak/client-core.js';
import { readExactly } from '../soak/read-exactly.js';

const HEAD = 12;
const MOST_UP = 8 * 1024;
const MOST_DOWN = 32 * 1024;
/** What a connection moves while it is being cut. */
export const LAST_WORDS = { up: 2 * (HEAD + MOST_UP), down: 2 * MOST_DOWN } as const;
const PAUSE_MS = 400;
/** A user who is refused tries again after this. */
const AGAIN_MS = 1_500;
const MOST_EXCHANGES = 15;
const LIMIT_MS = 20_000;
const random = (most: number): number => 1 + Math.floor(Math.random() * most);

/** One client on one inbound, as its program knows it. */
export interface Pair {
  readonly link: string;
  readonly slot: number;
  readonly inbound: number;
}
/** Bytes of one direction: `least` arrived at the other end; `most` were handed over here. A broken connection is the difference. */
export interface Range {
  least: number;
  most: number;
}
export interface Moved {
  readonly up: Range;
  readonly down: Range;
}
const nothing = (): Moved => ({ up: { least: 0, most: 0 }, down: { least: 0, most: 0 } });

export class Users {
  readonly #pairs: readonly Pair[];
  readonly #host: string;
  readonly #core: ManyUsers;
  readonly #server: Server;
  readonly #moved: Moved[];
  readonly #lives = new Map<number, Promise<void>>();
  /** by pair: how many connections were served */
  readonly served: number[];
  #isOver = false;

  private constructor(pairs: readonly Pair[], host: string, core: ManyUsers) {
    this.#pairs = pairs;
    this.#host = host;
    this.#core = core;
    this.#moved = pairs.map(nothing);
    this.served = pairs.map(() => 0);
    this.#server = createServer((socket) => {
      socket.on('error', () => undefined);
      this.#reply(socket).catch(() => socket.destroy());
    });
  }

  static async start(binary: string, pairs: readonly Pair[], host: string): Promise<Users> {
    const core = await startManyUsers(
      binary,
      pairs.map(({ link }) => link),
    );
    const users = new Users(pairs, host, core);
    users.#server.listen(0, host);
    await once(users.#server, 'listening');
    return users;
  }

  /** Each request says of whom it is, how long it is itself, and how long the reply must be. */
  async #reply(socket: Socket): Promise<void> {
    for (;;) {
      const head = await readExactly(socket, HEAD, LIMIT_MS);
      const moved = this.#moved[head.readUInt32BE(0)];
      if (!moved) throw new Error('of nobody');
      const [up, down] = [head.readUInt32BE(4), head.readUInt32BE(8)];
      if (up > 0) await readExactly(socket, up, LIMIT_MS);
      moved.up.least += HEAD + up;
      moved.down.most += down;
      socket.write(Buffer.alloc(down, 0x64));
    }
  }

  async #exchange(n: number, socket: Socket, up: number, down: number): Promise<void> {
    const moved = this.#moved[n] ?? nothing();
    const bytes = Buffer.alloc(HEAD + up, 0x75);
    bytes.writeUInt32BE(n, 0);
    bytes.writeUInt32BE(up, 4);
    bytes.writeUInt32BE(down, 8);
    moved.up.most += bytes.length;
    socket.write(bytes);
    await readExactly(socket, down, LIMIT_MS);
    moved.down.least += down;
  }

  /** Of this slot, users begin to try, and go on until the end. */
  begin(slot: number): void {
    for (const [n, pair] of this.#pairs.entries())
      if (pair.slot === slot && !this.#lives.has(n)) this.#lives.set(n, this.#live(n));
  }

  async #live(n: number): Promise<void> {
    await sleep(Math.random() * PAUSE_MS);
    while (!this.#isOver) {
      const isServed = await this.#connection(n, random(MOST_EXCHANGES));
      await sleep(isServed ? PAUSE_MS : AGAIN_MS * (0.5 + Math.random()));
    }
  }

  /** Whether one connection was served at all. */
  async #connection(n: number, exchanges: number): Promise<boolean> {
    const { port } = this.#server.address() as AddressInfo;
    const socket = await this.#core.connect(n, port, this.#host).catch(() => undefined);
    if (!socket) return false;
    socket.on('error', () => undefined);
    let isServed = false;
    try {
      // A byte first: who is refused has moved next to nothing.
      await this.#exchange(n, socket, 0, 1);
      isServed = true;
      this.served[n] = (this.served[n] ?? 0) + 1;
      for (let i = 0; i < exchanges && !this.#isOver; i++) {
        await this.#exchange(n, socket, random(MOST_UP), random(MOST_DOWN));
        await sleep(PAUSE_MS);
      }
      socket.end();
    } catch {
      // A core that restarts, or a client that is cut.
      socket.destroy();
    }
    return isServed;
  }

  /** Whether a new connection of this pair is served now; its bytes are counted with the others. */
  probe(n: number): Promise<boolean> {
    return this.#connection(n, 0);
  }

  moved(n: number): Moved {
    return this.#moved[n] ?? nothing();
  }

  /** Ends what is under way in good order. */
  async rest(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lives.values());
    await sleep(PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#core.stop();
    await Promise.all(this.#lives.values());
    this.#server.close();
  }
}
