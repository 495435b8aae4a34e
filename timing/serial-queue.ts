// Runs pieces of work one after another, in the order of their calls.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all earlier work has finished or failed. Resolves or rejects as `work` does; a failure affects only its caller. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when all earlier work is done; never rejects. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

/** A serial queue for each key; work under different keys runs at the same time. A key without work costs nothing. */
export class KeyedQueue<K> {
  readonly #queues = new Map<K, { readonly queue: SerialQueue; waiting: number }>();

  run<T>(key: K, work: () => T | Promise<T>): Promise<T> {
    const entry = this.#queues.get(key) ?? { queue: new SerialQueue(), waiting: 0 };
    this.#queues.set(key, entry);
    entry.waiting++;
    return entry.queue.run(async () => {
      try {
        return await work();
      } finally {
        if (--entry.waiting === 0) this.#queues.delete(key);
      }
    });
  }

  /** Number of keys with work. */
  get size(): number {
    return this.#queues.size;
  }
}
