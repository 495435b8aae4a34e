// A plugin's queue of events: bounded and serial, so that a slow listener delays only itself.
import { AsyncResource } from 'node:async_hooks';

const CAPACITY = 1000;

export class EventQueue {
  readonly #waiting: (() => void | Promise<void>)[] = [];
  readonly #failed: (error: unknown) => void;
  readonly #overflowed: () => void;
  /** Listeners run without an async context: an event may be emitted inside a write, and they are not part of it. */
  readonly #context = new AsyncResource('EventQueue');
  #running: Promise<void> | undefined;
  #missed = new Set<() => void | Promise<void>>();
  #full = false;

  /** `overflowed` is called once each time the queue becomes full. */
  constructor(failed: (error: unknown) => void, overflowed: () => void) {
    this.#failed = failed;
    this.#overflowed = overflowed;
  }

  /** `missed` is called instead when the queue is full, so that no event is lost silently. */
  push(deliver: () => void | Promise<void>, missed: (() => void | Promise<void>) | undefined): void {
    if (this.#waiting.length >= CAPACITY) {
      if (!this.#full) this.#overflowed();
      this.#full = true;
      if (missed) this.#missed.add(missed);
      return;
    }
    this.#waiting.push(deliver);
    this.#running ??= this.#context.runInAsyncScope(() => this.#drain());
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    for (;;) {
      const next = this.#waiting.shift() ?? this.#takeMissed();
      if (!next) break;
      try {
        await next();
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#full = false;
    this.#running = undefined;
  }

  #takeMissed(): (() => void | Promise<void>) | undefined {
    const [first] = this.#missed;
    if (first) this.#missed.delete(first);
    return first;
  }

  /** Resolves when all pushed events have been delivered. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }
}
