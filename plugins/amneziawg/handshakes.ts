// When clients last shook hands: one that did so within three minutes is online, because a session lasts no longer.
import type { Clock } from '../../kernel/index.js';
import type { PresenceSource } from '../clients/contract.js';
import type { UserRef } from '../engine/contract.js';

export const SESSION_MS = 180_000;

export class Handshakes implements PresenceSource {
  readonly #clock: Clock;
  /** Unix ms by client; only recent ones */
  readonly #last = new Map<number, number>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  isRecent(handshake: number): boolean {
    return handshake > 0 && this.#clock.now() - handshake < SESSION_MS;
  }

  note({ clientId }: UserRef, handshake: number): void {
    if (this.isRecent(handshake))
      this.#last.set(clientId, Math.max(handshake, this.#last.get(clientId) ?? 0));
  }

  isOnline(clientId: number): boolean {
    const last = this.#last.get(clientId);
    if (last === undefined) return false;
    if (this.isRecent(last)) return true;
    this.#last.delete(clientId);
    return false;
  }

  /** The client is no longer there. */
  forget(clientId: number): void {
    this.#last.delete(clientId);
  }
}
