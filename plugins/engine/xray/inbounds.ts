// Remembers the type of each running inbound: the core panics on an account of another type.
import { CoreRefused } from '../driver.js';

interface Inbound {
  /** full name of the message that the core made of its settings */
  readonly type: string;
  /** running calls on its users */
  readonly calls: Set<Promise<unknown>>;
}

export class RunningInbounds {
  readonly #byTag = new Map<string, Inbound>();

  /** tags with their types */
  get types(): [tag: string, type: string][] {
    return [...this.#byTag].map(([tag, { type }]) => [tag, type]);
  }

  set(tag: string, type: string): void {
    this.#byTag.set(tag, { type, calls: new Set() });
  }

  /** Runs a call on the inbound's users; its type cannot change meanwhile. */
  async use<T>(tag: string, call: (type: string) => Promise<T>): Promise<T> {
    const inbound = this.#byTag.get(tag);
    if (inbound === undefined) throw new CoreRefused(`inbound ${tag}: the core has no such inbound`);
    const running = call(inbound.type);
    inbound.calls.add(running);
    try {
      return await running;
    } finally {
      inbound.calls.delete(running);
    }
  }

  /** Rejects new calls and resolves when the running ones end: only then may the tag change its protocol. */
  async close(tag: string): Promise<void> {
    const inbound = this.#byTag.get(tag);
    this.#byTag.delete(tag);
    if (inbound !== undefined) await Promise.allSettled(inbound.calls);
  }
}
