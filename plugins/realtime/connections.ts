// Connections of the live stream, by either endpoint, each from its handshake until its socket closes. Connections that
// never finish their handshake count towards the limit, too.
import type { Duplex } from 'node:stream';
import { errors } from './errors.js';

export const MOST_CONNECTIONS = 1_200;
/** Calls of `cutIdle` that a connection may see before it is a reader. They are counted, because a clock can jump. */
const JOIN_WITHIN_CHECKS = 3;

export class Connections {
  /** How many checks each connection has seen without being a reader; undefined for a reader. */
  readonly #open = new Map<Duplex, number | undefined>();

  /** Throws when the limit is reached. */
  admit(socket: Duplex): void {
    if (this.#open.size >= MOST_CONNECTIONS) throw errors.FULL();
    this.#open.set(socket, 0);
    socket.once('close', () => this.#open.delete(socket));
  }

  joined(socket: Duplex): void {
    if (this.#open.has(socket)) this.#open.set(socket, undefined);
  }
  left(socket: Duplex): void {
    if (this.#open.has(socket)) this.#open.set(socket, 0);
  }

  /** Cuts connections that have not been readers for too long: their handshake is unfinished, or they are closing. A job calls it every five seconds. */
  cutIdle(): void {
    for (const [socket, seen] of this.#open) {
      if (seen === undefined) continue;
      this.#open.set(socket, seen + 1);
      if (seen + 1 >= JOIN_WITHIN_CHECKS) socket.destroy();
    }
  }
}
