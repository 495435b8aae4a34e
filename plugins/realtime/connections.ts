// Connections of the live stream, by either endpoint, each from its handshake until its socket is closed: a limit that
// counted readers alone would count nobody who never says that it wants to read.
import type { Duplex } from 'node:stream';
import type { Clock } from '../../kernel/index.js';
import { errors } from './errors.js';

const MOST_CONNECTIONS = 200;
/** Time to become a reader; far more than a handshake takes. */
const JOIN_WITHIN_MS = 10_000;

export class Connections {
  readonly #clock: Clock;
  /** Unix ms since when each waits for its protocol to be ready, undefined for one that reads. */
  readonly #open = new Map<Duplex, number | undefined>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** Throws when there is no room for another. */
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

  /** Cuts those that have read nothing for too long, because they do not finish their handshake or have taken leave. A job calls it. */
  cutIdle(): void {
    const oldest = this.#clock.now() - JOIN_WITHIN_MS;
    for (const [socket, since] of this.#open) if (since !== undefined && since <= oldest) socket.destroy();
  }
}
