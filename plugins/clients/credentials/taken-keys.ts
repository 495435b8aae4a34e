// The keys of credentials by inbound, in memory, for the writer alone: who has a key, and which is free. The database
// refuses a key that is taken; this finds a free one without asking for each.
import type { Tx } from '../../../kernel/index.js';
import type { TakenKeys } from '../../inbounds/contract.js';
import { keysOfInbound } from './statements.js';

const MOST_FREED = 10_000;

export class InboundKeys implements TakenKeys {
  readonly #owners = new Map<string, number>();
  cursor: TakenKeys['cursor'];
  readonly freed: string[] = [];

  has(key: string): boolean {
    return this.#owners.has(key);
  }
  all(): Iterable<string> {
    return this.#owners.keys();
  }
  /** 0: a client that is being created */
  owner(key: string): number | undefined {
    return this.#owners.get(key);
  }
  take(keys: readonly string[], clientId: number): void {
    for (const key of keys) this.#owners.set(key, clientId);
  }
  free(keys: readonly string[]): void {
    for (const key of keys) {
      if (!this.#owners.delete(key)) continue;
      this.freed.push(key);
      if (this.freed.length <= MOST_FREED) continue;
      // A search from the start finds them all again.
      this.freed.length = 0;
      this.cursor = undefined;
    }
  }
}

/** Read at the first use in a write. Changed inside writes, of which there is one at a time; after a write that failed all are read again. */
export class KeysByInbound {
  readonly #byInbound = new Map<number, InboundKeys>();

  async load(tx: Tx, inboundId: number): Promise<InboundKeys> {
    const known = this.#byInbound.get(inboundId);
    if (known) return known;
    const keys = new InboundKeys();
    for (const { key, clientId } of await keysOfInbound(tx, inboundId)) keys.take([key], clientId);
    this.#byInbound.set(inboundId, keys);
    return keys;
  }
  loaded(inboundId: number): InboundKeys | undefined {
    return this.#byInbound.get(inboundId);
  }
  get isEmpty(): boolean {
    return this.#byInbound.size === 0;
  }
  forget(inboundId: number): void {
    this.#byInbound.delete(inboundId);
  }
  forgetAll(): void {
    this.#byInbound.clear();
  }
}
