// Limits requests that come in one piece: 64 KiB hold thousands of tiny ones, which Node reads and answers without giving others their turn.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection in one turn of the event loop. Client programs and proxies wait for the reply before they send another one. */
export const MOST_IN_ONE_TURN = 32;

export class Pipelined {
  #socket: Socket | undefined;
  #count = 0;

  /** Whether a request is one too many: its connection is closed then. Those of one piece come directly one after another. */
  refuses({ socket }: IncomingMessage): boolean {
    if (socket.destroyed) return true;
    if (socket !== this.#socket) {
      this.#socket = socket;
      this.#count = 0;
    }
    if (this.#count++ === 0) setImmediate(() => (this.#socket = undefined));
    if (this.#count <= MOST_IN_ONE_TURN) return false;
    socket.destroy();
    return true;
  }
}
