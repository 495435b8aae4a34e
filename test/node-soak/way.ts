// The way from a panel to one of its nodes: a relay on the node's machine, and the network between them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../harness/api.js';
import type { Places } from './places.js';
import type { Site } from './site.js';
import { FAIR, type Weather } from './weather.js';

const PROGRAM = fileURLToPath(new URL('./relay-process.js', import.meta.url));

export class Way {
  readonly from: Site;
  readonly to: Site;
  /** of the relay, on the node's address */
  readonly port: number;
  readonly #places: Places;
  readonly #relay: ChildProcess;

  private constructor(places: Places, from: Site, to: Site, port: number, relay: ChildProcess) {
    this.#places = places;
    this.from = from;
    this.to = to;
    this.port = port;
    this.#relay = relay;
  }

  static async open(places: Places, from: Site, to: Site): Promise<Way> {
    const port = await freePort();
    const { host, within } = to.place;
    const [command = process.execPath, ...args] = [
      ...within,
      process.execPath,
      PROGRAM,
      host,
      String(port),
      host,
      String(to.port),
    ];
    const relay = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const ended = once(relay, 'exit').then(() => {
      throw new Error('the relay ended by itself');
    });
    ended.catch(() => undefined);
    await Promise.race([once(relay, 'message'), ended]);
    return new Way(places, from, to, port, relay);
  }

  get name(): string {
    return `${this.from.name}–${this.to.name}`;
  }

  async set(weather: Weather): Promise<void> {
    const changed = once(this.#relay, 'message');
    this.#relay.send(weather);
    await Promise.all([changed, this.#places.lose(this.from.place, this.to.place, weather.loss)]);
  }

  clear(): Promise<void> {
    return this.set(FAIR);
  }

  close(): void {
    this.#relay.kill('SIGKILL');
  }
}
