// Devices that memory has and the database does not have yet, or still has.
import type { DeviceDescription } from './contract.js';
import type { DeviceMemory } from './device-memory.js';

export interface Sighting extends DeviceDescription {
  readonly clientId: number;
  readonly hash: string;
  readonly at: number;
  /** the first of the sightings that one row stands for; of a known device the database has an earlier one */
  readonly firstAt: number;
  /** it has no row yet */
  readonly isNew: boolean;
}
export interface Gone {
  readonly clientId: number;
  readonly hash: string;
}
type Waiting = { readonly seen: Sighting } | { readonly gone: Gone };

const keyOf = ({ clientId, hash }: Gone): string => `${clientId} ${hash}`;

export class WaitingRows {
  #waiting = new Map<string, Waiting>();
  /** those that a write has taken and not stored yet */
  #taken = new Map<string, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  seen(sighting: Sighting): void {
    const key = keyOf(sighting);
    const waiting = this.#waiting.get(key);
    // What was dropped before does not count.
    const before = waiting && 'seen' in waiting ? waiting.seen : sighting;
    const isNew = sighting.isNew || before.isNew;
    const firstAt = Math.min(sighting.firstAt, before.firstAt);
    this.#waiting.set(key, { seen: { ...sighting, isNew, firstAt } });
  }

  /** The device was dropped from memory. */
  gone({ clientId, hash }: Gone): void {
    const key = keyOf({ clientId, hash });
    const before = this.#waiting.get(key);
    if (before && 'seen' in before && before.seen.isNew && !this.#taken.has(key)) this.#waiting.delete(key);
    else this.#waiting.set(key, { gone: { clientId, hash } });
  }

  /** Forgets what waits for these devices: an admin has removed them. */
  forget(clientId: number, hashes: readonly string[]): void {
    for (const hash of hashes) this.#waiting.delete(keyOf({ clientId, hash }));
  }

  isGone(device: Gone): boolean {
    const waiting = this.#waiting.get(keyOf(device));
    return waiting !== undefined && 'gone' in waiting;
  }

  /** The next rows to write, until `stored` or `failed` is called. */
  take(most: number): { readonly seen: readonly Sighting[]; readonly gone: readonly Gone[] } {
    for (const [key, waiting] of this.#waiting) {
      if (this.#taken.size === most) break;
      this.#taken.set(key, waiting);
      this.#waiting.delete(key);
    }
    const taken = [...this.#taken.values()];
    return {
      seen: taken.flatMap((row) => ('seen' in row ? row.seen : [])),
      gone: taken.flatMap((row) => ('gone' in row ? row.gone : [])),
    };
  }
  stored(): void {
    this.#taken = new Map();
  }
  /** They are part of the next write. */
  failed(): void {
    const later = this.#waiting;
    this.#waiting = this.#taken;
    this.#taken = new Map();
    for (const row of later.values()) {
      if ('seen' in row) this.seen(row.seen);
      else this.gone(row.gone);
    }
  }

  /** Brings memory that was read from the database up to now. */
  applyTo(memory: DeviceMemory): void {
    for (const row of [...this.#taken.values(), ...this.#waiting.values()]) {
      if ('seen' in row) memory.add(row.seen.clientId, row.seen.hash, row.seen.at);
      else memory.remove(row.gone.clientId, row.gone.hash);
    }
  }
}
