// What each running inbound is. The core panics on an account of another protocol, so this is kept by the driver itself
// and never taken from a caller.
import { CoreRefused } from '../driver.js';

interface Inbound {
  /** full name of the message that the core made of its settings */
  readonly type: string;
  /** calls on its users that are under way */
  readonly calls: Set<Promise<unknown>>;
}

export class RunningInbounds {
  readonly #byTag = new Map<string, Inbound>();

  set(tag: string, type: string): void {
    this.#byTag.set(tag, { type, calls: new Set() });
  }

  /** Runs a call on the inbound's users with the type that it has for as long as the call lasts. */
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

  /** Lets no new call in and resolves when those under way are over: only now may the tag change its protocol. */
  async close(tag: string): Promise<void> {
    const inbound = this.#byTag.get(tag);
    this.#byTag.delete(tag);
    if (inbound !== undefined) await Promise.allSettled(inbound.calls);
  }
}
