// A plugin's queue of events: bounded, one after another, so that a slow listener delays nobody but itself.

const CAPACITY = 1000;

export class EventQueue {
  readonly #waiting: (() => void | Promise<void>)[] = [];
  readonly #failed: (error: unknown) => void;
  #running: Promise<void> | undefined;
  #missed = new Set<() => void | Promise<void>>();
  dropped = 0;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** `missed` is what to call instead when there is no room: losing an event in silence is not an option. */
  push(deliver: () => void | Promise<void>, missed: (() => void | Promise<void>) | undefined): void {
    if (this.#waiting.length >= CAPACITY) {
      this.dropped++;
      if (missed) this.#missed.add(missed);
      return;
    }
    this.#waiting.push(deliver);
    this.#running ??= this.#drain();
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
