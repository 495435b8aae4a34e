// Connections of the live stream, by either endpoint, each from its handshake until its socket closes. Connections that
// never finish their handshake count towards the limit, too.
import type { Duplex } from 'node:stream';
import type { Clock } from '../../kernel/index.js';
import { errors } from './errors.js';

const MOST_CONNECTIONS = 200;
/** Time limit to become a reader; far more than a handshake takes. */
const JOIN_WITHIN_MS = 10_000;

export class Connections {
  readonly #clock: Clock;
  /** Unix ms since when each connection has waited for its handshake; undefined for a reader. */
  readonly #open = new Map<Duplex, number | undefined>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** Throws when the limit is reached. */
  admit(socket: Duplex): void {
    if (this.#open.size >= MOST_CONNECTIONS) throw errors.FULL();
    this.#open.set(socket, this.#clock.now());
    socket.once('close', () => this.#open.delete(socket));
  }

  joined(socket: Duplex): void {
    if (this.#open.has(socket)) this.#open.set(socket, undefined);
  }
  left(socket: Duplex): void {
    if (this.#open.has(socket)) this.#open.set(socket, this.#clock.now());
  }

  /** Cuts connections that have not been readers for too long: their handshake is unfinished, or they are closing. A job calls it. */
  cutIdle(): void {
    const oldest = this.#clock.now() - JOIN_WITHIN_MS;
    for (const [socket, since] of this.#open) if (since !== undefined && since <= oldest) socket.destroy();
  }
}
