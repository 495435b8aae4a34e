// A plugin's queue of events: bounded, one after another, so that a slow listener delays nobody but itself.
import { AsyncResource } from 'node:async_hooks';

const CAPACITY = 1000;

export class EventQueue {
  readonly #waiting: (() => void | Promise<void>)[] = [];
  readonly #failed: (error: unknown) => void;
  readonly #overflowed: () => void;
  /** Listeners run in the context of nobody: an event may be emitted inside a write, and they are no part of it. */
  readonly #context = new AsyncResource('EventQueue');
  #running: Promise<void> | undefined;
  #missed = new Set<() => void | Promise<void>>();
  #full = false;

  /** `overflowed` is called once each time that the queue has become too long. */
  constructor(failed: (error: unknown) => void, overflowed: () => void) {
    this.#failed = failed;
    this.#overflowed = overflowed;
  }

  /** `missed` is what to call instead when there is no room: losing an event in silence is not an option. */
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

  /** Resolves when everything that was pushed has been delivered. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }
}
